// A GTK window as an app on Wayland has it:  gjs -m window.js APP_ID TITLE
// Each line on standard input is a command:
// title TEXT | text TEXT | dialog TITLE | enddialog | tick COUNT MILLISECONDS | close
import Gio from 'gi://Gio';
import GioUnix from 'gi://GioUnix';
import GLib from 'gi://GLib';
import Gtk from 'gi://Gtk?version=4.0';

const [appId, title] = ARGV; // eslint-disable-line no-undef -- gjs has it
GLib.set_prgname(appId); // the window's class on X11
const app = new Gtk.Application({application_id: appId, flags: Gio.ApplicationFlags.NON_UNIQUE});
const input = Gio.DataInputStream.new(GioUnix.InputStream.new(0, false));
let window, dialog;

const commands = {
    title: text => (window.title = text),
    text(text) { // to write on; a "|" is the end of a line
        const page = new Gtk.TextView({wrapMode: Gtk.WrapMode.WORD, topMargin: 24, leftMargin: 32, rightMargin: 32});
        page.buffer.text = text.replaceAll('|', '\n');
        window.child = page;
        page.grab_focus();
    },
    dialog(text) {
        dialog = new Gtk.Window({title: text, transientFor: window, modal: true, defaultWidth: 200, defaultHeight: 100});
        dialog.present();
    },
    enddialog: () => dialog.destroy(),
    tick(counts) {
        const [count, milliseconds] = counts.split(' ').map(Number);
        let tick = 0;
        GLib.timeout_add(GLib.PRIORITY_DEFAULT, milliseconds, () => {
            window.title = `Tick ${++tick}`;
            return tick < count;
        });
    },
    close: () => app.quit(),
};

async function obey() {
    for (let line; (line = (await input.read_line_async(0, null))[0]) !== null;) {
        const [, name, text] = /^(\S+) ?(.*)$/.exec(new TextDecoder().decode(line));
        commands[name](text);
    }
    app.quit();
}

app.connect('activate', () => {
    window = new Gtk.ApplicationWindow({application: app, title, defaultWidth: 400, defaultHeight: 300});
    window.present();
    obey();
});
Gio._promisify(Gio.DataInputStream.prototype, 'read_line_async', 'read_line_finish');
app.run([]);
