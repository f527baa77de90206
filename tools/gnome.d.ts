// What the published types of GNOME Shell leave out, for tsconfig.json. Seen by nothing but the type checker.

import '@girs/gobject-2.0/gobject-2.0';

declare module '@girs/gobject-2.0/gobject-2.0' {
    namespace GObject {
        interface Object {
            /** Signals and handlers in turn, then whose they are: `disconnectObject(owner)` ends them all. */
            connectObject(...signalsHandlersAndOwner: unknown[]): void;
            disconnectObject(owner: object): void;
        }
    }
}
