// SPDX-License-Identifier: GPL-2.0-only
/*
 * A keyboard and a screen for the kernel debugger. The text written to the parameter
 * "type" is typed when the debugger starts next, with a newline for each semicolon.
 * Writing to "enter" starts the debugger, and so does a breakpoint. The parameter
 * "screen" has its output since "type" was written.
 */
#include <linux/console.h>
#include <linux/kgdb.h>
#include <linux/module.h>
#include <linux/string.h>

static char keys[256], screen[2048];
static unsigned int keys_at, screen_len;

/* Typed at the end, so that the guest never stays in the debugger. */
static const char way_out[] = "bc *\ngo\n";
static unsigned int way_out_at;

static int read_char(void)
{
	if (keys[keys_at])
		return keys[keys_at++];
	if (!way_out[way_out_at])
		way_out_at = 0;
	return way_out[way_out_at++];
}

static void write_char(u8 c)
{
	if (screen_len < sizeof(screen) - 1)
		screen[screen_len++] = c;
}

static struct kgdb_io io = {
	.name = "kp_kgdb",
	.read_char = read_char,
	.write_char = write_char,
};

static int type_set(const char *text, const struct kernel_param *param)
{
	strscpy(keys, text, sizeof(keys));
	strreplace(keys, ';', '\n');
	keys_at = 0;
	way_out_at = 0;
	memset(screen, 0, sizeof(screen));
	screen_len = 0;
	return 0;
}

module_param_call(type, type_set, NULL, NULL, 0200);

static int enter_set(const char *text, const struct kernel_param *param)
{
	kgdb_breakpoint();
	return 0;
}

module_param_call(enter, enter_set, NULL, NULL, 0200);

module_param_string(screen, screen, sizeof(screen), 0400);

/*
 * The debugger also prints on every console but its own. There it would split the line that
 * another CPU prints when it is stopped, so the first console is passed off as its own.
 */
static struct console *first_console(void)
{
	struct console *console;

	console_list_lock();
	console = hlist_entry_safe(console_list.first, struct console, node);
	console_list_unlock();

	return console;
}

static int __init kp_kgdb_init(void)
{
	io.cons = first_console();

	return kgdb_register_io_module(&io);
}

static void __exit kp_kgdb_exit(void)
{
	kgdb_unregister_io_module(&io);
}

module_init(kp_kgdb_init)
module_exit(kp_kgdb_exit)
MODULE_DESCRIPTION("A keyboard for the kernel debugger");
MODULE_LICENSE("GPL");
