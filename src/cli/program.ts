/**
 * The command line: which commands there are and what they take. The code of a command is loaded
 * when it runs.
 */
import { Command as CommanderCommand, CommanderError } from 'commander'
import { type Command, type Context, type Input, type Result, UsageError } from './command.ts'
import type { Terminal } from './terminal.ts'

type Spec = {
  name: string
  summary: string
  args?: string
  /** Flags and description, as commander takes them; `!` before the flags: it must be given. */
  options?: [flags: string, description: string][]
  load(): Promise<Command>
}

const groups: Record<string, string> = {
  config: 'the configuration as it holds',
  user: 'people who may log in',
  project: 'projects and their keys',
  domain: 'domains to send from',
  queue: 'mail on its way',
  inbound: 'mail to the server itself, and what could not be read',
  sandbox: 'mail that the sandbox kept',
  bounce: 'what came back',
}

const idArgument = '<id>'
const domainOption: [string, string] = ['!--domain <domain>', 'recipient domain']

const specs: Spec[] = [
  {
    name: 'serve',
    summary: 'run the server',
    load: async () => (await import('./serve.ts')).serve,
  },
  {
    name: 'init',
    summary: 'write a commented pillarbox.toml',
    options: [
      ['--hostname <host>', 'name of this server in mail sessions'],
      ['--base-url <url>', 'public address of this server'],
    ],
    load: async () => (await import('./init.ts')).init,
  },
  {
    name: 'config check',
    summary: 'say whether the configuration can be used, and what to look at',
    load: async () => (await import('./config.ts')).checkConfig,
  },
  {
    name: 'config show',
    summary: 'print the effective values, secrets hidden',
    load: async () => (await import('./config.ts')).showConfig,
  },
  {
    name: 'user create',
    summary: 'make a user; the password is asked for at a terminal, else made and printed once',
    options: [
      ['!--email <address>', 'whom to make'],
      ['--password-stdin', 'read the password from standard input'],
      ['--password <password>', 'the password, for all to see who list processes'],
    ],
    load: async () => (await import('./user.ts')).createUserCommand,
  },
  {
    name: 'user password',
    summary: 'give a user a new password, in the same ways',
    options: [
      ['!--email <address>', 'whose password'],
      ['--password-stdin', 'read the password from standard input'],
      ['--password <password>', 'the password, for all to see who list processes'],
    ],
    load: async () => (await import('./user.ts')).setPasswordCommand,
  },
  {
    name: 'user list',
    summary: 'list users',
    load: async () => (await import('./user.ts')).listUsersCommand,
  },
  {
    name: 'project create',
    summary: 'make a project and print both its keys once',
    options: [
      ['!--name <name>', 'shown as the sender where a message names none'],
      ['!--owner <address>', 'the user who owns it'],
    ],
    load: async () => (await import('./project.ts')).createProjectCommand,
  },
  {
    name: 'project list',
    summary: 'list projects',
    load: async () => (await import('./project.ts')).listProjectsCommand,
  },
  {
    name: 'project update',
    summary: 'change a project',
    args: idArgument,
    options: [
      ['--name <name>', 'its name'],
      ['--tracking <mode>', 'ENABLED, DISABLED or MARKETING_ONLY'],
      ['--language <language>', 'as "en" or "pt-BR"'],
      ['--disable <reason>', 'refuse its mail: MANUAL, EMAIL_REPUTATION, PHISHING_DETECTED ...'],
      ['--enable', 'allow its mail again'],
    ],
    load: async () => (await import('./project.ts')).updateProjectCommand,
  },
  {
    name: 'project keys',
    summary: 'show its keys, the secret one masked',
    args: idArgument,
    options: [['--regenerate', 'make new keys and print them once; the old ones die at once']],
    load: async () => (await import('./project.ts')).projectKeysCommand,
  },
  {
    name: 'domain add',
    summary: 'claim a domain and print the DNS records to make',
    args: '<domain>',
    options: [['!--project <id>', 'whose domain']],
    load: async () => (await import('./domain.ts')).addDomainCommand,
  },
  {
    name: 'domain list',
    summary: 'list domains',
    options: [['--project <id>', 'of this project only']],
    load: async () => (await import('./domain.ts')).listDomainsCommand,
  },
  {
    name: 'domain verify',
    summary: 'look for its DNS records now',
    args: '<domain>',
    options: [['--trust', 'take it as verified without a look, for sandbox and tests']],
    load: async () => (await import('./domain.ts')).verifyDomainCommand,
  },
  {
    name: 'queue list',
    summary: 'list mail; without a state, what is still on its way; ended, of the newest million',
    options: [
      ['--state <state>', 'queued, deferred, held, sending, delivered, relayed, bounced ...'],
      ['--domain <domain>', 'recipient domain'],
      ['--sender-domain <domain>', 'domain of the From address'],
    ],
    load: async () => (await import('./queue.ts')).listQueueCommand,
  },
  {
    name: 'queue show',
    summary: 'tell the story of an email: every attempt, step and reply',
    args: idArgument,
    load: async () => (await import('./queue-show.ts')).showEmailCommand,
  },
  {
    name: 'queue retry',
    summary: 'try now, also what has failed',
    args: '<id...>',
    load: async () => (await import('./queue.ts')).retryCommand,
  },
  {
    name: 'queue cancel',
    summary: 'give up',
    args: '<id...>',
    load: async () => (await import('./queue.ts')).cancelCommand,
  },
  {
    name: 'queue hold',
    summary: 'hold all mail to a domain, now and to come',
    options: [domainOption],
    load: async () => (await import('./queue.ts')).holdCommand,
  },
  {
    name: 'queue release',
    summary: 'let it go on',
    options: [domainOption],
    load: async () => (await import('./queue.ts')).releaseCommand,
  },
  {
    name: 'send',
    summary: 'send an email',
    options: [
      ['!--project <id>', 'who sends'],
      ['!--from <address>', 'at a verified domain of the project'],
      ['!--to <address>', 'one recipient'],
      ['!--subject <text>', 'may hold {{ placeholders }}'],
      ['--html <html>', 'the body'],
      ['--html-file <file>', 'a file with the body'],
      ['--text <text>', 'its text part; made of the HTML if left out'],
    ],
    load: async () => (await import('./send.ts')).send,
  },
  {
    name: 'inbound list',
    summary: 'list mail to postmaster and abuse, and mail that could not be read, newest first',
    load: async () => (await import('./inbound.ts')).listInboundCommand,
  },
  {
    name: 'inbound show',
    summary: 'print a message as it came, or what is known of it when it is gone',
    args: idArgument,
    load: async () => (await import('./inbound.ts')).showInboundCommand,
  },
  {
    name: 'sandbox list',
    summary: 'list messages, newest first',
    load: async () => (await import('./sandbox.ts')).listSandboxCommand,
  },
  {
    name: 'sandbox show',
    summary: 'print a message as it arrived',
    args: idArgument,
    load: async () => (await import('./sandbox.ts')).showSandboxCommand,
  },
  {
    name: 'bounce inspect',
    summary: 'print what is understood of bounces, complaints and replies, a JSON line a file',
    args: '<file...>',
    load: async () => (await import('./bounce.ts')).inspectBouncesCommand,
  },
  {
    name: 'version',
    summary: 'print the version',
    load: async () => (await import('./version.ts')).version,
  },
]

/** Runs what `argv` asks for; null after a help text. @throws UsageError, what the command throws */
export async function runProgram(terminal: Terminal, argv: readonly string[]): Promise<Result> {
  let result: Result = null
  let help = ''
  const program = new CommanderCommand('pillarbox')
    .description('A self-hosted email platform')
    .option('--config <path>', 'configuration file')
    .option('--json', 'print JSON')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: (text) => {
        help += text
      },
    })
    .configureHelp({ showGlobalOptions: true })
  for (const spec of specs) {
    addCommand(program, spec).action(async (...all: unknown[]) => {
      const command = all.at(-1) as CommanderCommand
      const run = await spec.load()
      result = await run(toContext(terminal, program), toInput(command))
    })
  }
  try {
    // What people type first; it is a command like the others.
    const words = argv[0] === '--version' ? ['version', ...argv.slice(1)] : argv
    await program.parseAsync(words, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode !== 0) throw new UsageError(describe(error, help))
  }
  return result
}

function addCommand(program: CommanderCommand, { name, summary, args, options = [] }: Spec) {
  const [first = '', second] = name.split(' ')
  const parent = second === undefined ? program : groupOf(program, first)
  const command = parent.command(second ?? first).description(summary)
  if (args !== undefined) command.arguments(args)
  for (const [flags, description] of options) {
    if (flags.startsWith('!')) command.requiredOption(flags.slice(1), description)
    else command.option(flags, description)
  }
  return command
}

function groupOf(program: CommanderCommand, name: string): CommanderCommand {
  const known = program.commands.find((command) => command.name() === name)
  return known ?? program.command(name).description(groups[name] ?? '')
}

function toContext(terminal: Terminal, program: CommanderCommand): Context {
  const { config, json } = program.opts()
  return { terminal, configPath: config, isJson: json === true }
}

function toInput(command: CommanderCommand): Input {
  const options: Record<string, unknown> = command.opts()
  const text = (option: string) => {
    const value = options[option]
    return typeof value === 'string' ? value : undefined
  }
  return {
    args: command.args,
    text,
    required: (option) => text(option) ?? '',
    has: (flag) => options[flag] === true,
  }
}

/** Without a command commander gives the help as its error. */
function describe({ code, message }: CommanderError, help: string): string {
  if (code !== 'commander.help') return message.replace(/^error: /, '')
  return `which command?\n${help.trimEnd()}`
}
