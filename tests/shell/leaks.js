// Evaluated in the shell by a test: from now on, what the files of the extension connect and start is recorded. __left()
// says what of it is still there, and how much there is of other things; __stop() ends the recording.
void (() => {
    const {GObject} = imports.gi;
    const mine = () => new Error().stack.includes('/extensions/antidrift@antidrift.org/');
    const handlers = [], sources = [], undo = [];
    for (const name of ['connect', 'connect_after']) {
        const original = GObject.Object.prototype[name];
        undo.push(() => { GObject.Object.prototype[name] = original; });
        GObject.Object.prototype[name] = function (...args) {
            const id = original.apply(this, args);
            if (mine())
                handlers.push([new WeakRef(this), id, `${this.constructor.name}::${args[0]}`]);
            return id;
        };
    }
    for (const name of ['timeout_add', 'timeout_add_seconds', 'idle_add']) {
        const original = GLib[name];
        undo.push(() => { GLib[name] = original; });
        GLib[name] = (...args) => {
            const id = original(...args);
            if (mine())
                sources.push(id);
            return id;
        };
    }
    const walk = actor => 1 + actor.get_children().reduce((sum, child) => sum + walk(child), 0);
    const length = list => list?.length ?? Object.keys(list ?? {}).length;
    globalThis.__left = () => {
        imports.system.gc();
        return {
            actors: walk(global.stage),
            chrome: Main.layoutManager._trackedActors.length,
            tray: Main.messageTray.getSources().length,
            live: handlers.filter(([object, id]) => object.deref() &&
                GObject.signal_handler_is_connected(object.deref(), id)).map(([, , name]) => name),
            sources: sources.filter(id => GLib.MainContext.default().find_source_by_id(id)).length,
            emitters: length(Main.sessionMode._signalConnections),
            keys: Object.values(Main.wm._allowedKeybindings).filter(mode => mode).length,
        };
    };
    globalThis.__stop = () => undo.forEach(restore => restore());
})()
