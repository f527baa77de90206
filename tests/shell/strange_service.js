// A service that says what it is told, for what the real one never says: each line of standard input is the answer to
// GetState from then on, and goes out as StateChanged.
import Gio from 'gi://Gio';
import GLib from 'gi://GLib';

const XML = `<node><interface name="org.antidrift.Session">
    <method name="GetState"><arg name="state" type="s" direction="out"/></method>
    <method name="ReportFocus"><arg name="window" type="a{sv}" direction="in"/></method>
    <signal name="StateChanged"><arg name="state" type="s"/></signal>
</interface></node>`;

let state = '';
const object = Gio.DBusExportedObject.wrapJSObject(XML, {GetState: () => state, ReportFocus: () => {}});
const input = new Gio.DataInputStream({base_stream: Gio.File.new_for_path('/dev/stdin').read(null)});
const loop = new GLib.MainLoop(null, false);

function listen() {
    input.read_line_async(GLib.PRIORITY_DEFAULT, null, (_input, result) => {
        const [line] = input.read_line_finish_utf8(result);
        if (line === null) {
            loop.quit();
            return;
        }
        if (!state)
            Gio.DBus.session.own_name('org.antidrift.Session', Gio.BusNameOwnerFlags.NONE, null, null);
        state = line;
        object.emit_signal('StateChanged', new GLib.Variant('(s)', [state]));
        listen();
    });
}

object.export(Gio.DBus.session, '/org/antidrift/Session');
listen();
loop.run();
