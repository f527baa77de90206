// The part of an accessibility bus that GTK looks for before it shows its widgets there: the root into which each
// program embeds itself. Prints who has done so, one a line: the name on the bus and the path of its root.
import Gio from 'gi://Gio';
import GLib from 'gi://GLib';

const SOCKET = `<node><interface name="org.a11y.atspi.Socket">
    <method name="Embed"><arg type="(so)" direction="in"/><arg type="(so)" direction="out"/></method>
    <method name="Unembed"><arg type="(so)" direction="in"/></method>
</interface></node>`;
const REGISTRY = `<node><interface name="org.a11y.atspi.Registry">
    <method name="GetRegisteredEvents"><arg type="a(ss)" direction="out"/></method>
</interface></node>`;
const ROOT = '/org/a11y/atspi/accessible/root';

const bus = Gio.DBus.session;
const socket = Gio.DBusExportedObject.wrapJSObject(SOCKET, {
    Embed([name, path]) {
        print(name, path);
        return [bus.get_unique_name(), ROOT];
    },
    Unembed() {
    },
});
const registry = Gio.DBusExportedObject.wrapJSObject(REGISTRY, {
    GetRegisteredEvents: () => [],
});
socket.export(bus, ROOT);
registry.export(bus, '/org/a11y/atspi/registry');
Gio.bus_own_name_on_connection(
    bus, 'org.a11y.atspi.Registry', Gio.BusNameOwnerFlags.NONE, () => print('ready'), null);
new GLib.MainLoop(null, false).run();
