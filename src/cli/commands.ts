/**
 * The table of commands: name, summary, arguments and options. `engine/program.ts` turns it into the
 * command line. The code of a command is loaded when the command runs.
 */
import type { CommandSpec } from './engine/command.ts'

/** The groups of commands and what `pillarbox --help` says of each. */
export const groups: Record<string, string> = {
  config: 'the configuration as it holds',
  user: 'people who may log in',
  project: 'projects and their keys',
  domain: 'domains to send from',
  queue: 'mail on its way',
  inbound: 'mail to the server itself, and what could not be read or was capped',
  suppressions: 'addresses that are not sent to',
  sandbox: 'mail that the sandbox kept',
  bounce: 'what came back',
}

const idArgument = '<id>'
const repliesOption: [string, string] = [
  '--replies',
  'show the record that brings replies, and all other mail of the domain, here',
]
const domainOption: [string, string] = ['!--domain <domain>', 'recipient domain']

export const commands: CommandSpec[] = [
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
      ['--data-dir <folder>', 'folder of the database'],
      ['--mode <mode>', 'sandbox, direct (to the MX) or relay (a smarthost)'],
      ['--inbound', 'take in bounces, complaints and replies at port 25'],
      ['--submission', 'take in mail of programs at ports 587 and 465'],
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
      ['--password <password>', 'the password, visible to anyone who can list processes'],
    ],
    load: async () => (await import('./user.ts')).createUserCommand,
  },
  {
    name: 'user password',
    summary: 'give a user a new password, in the same ways',
    options: [
      ['!--email <address>', 'whose password'],
      ['--password-stdin', 'read the password from standard input'],
      ['--password <password>', 'the password, visible to anyone who can list processes'],
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
    options: [
      ['!--project <id>', 'whose domain'],
      ['--check', "look for the server's own records, too"],
      repliesOption,
    ],
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
    options: [
      ['--trust', 'take it as verified without a look, for sandbox and tests'],
      repliesOption,
    ],
    load: async () => (await import('./domain.ts')).verifyDomainCommand,
  },
  {
    name: 'domain remove',
    summary: 'forget a domain and its keys: nothing more is sent from it',
    args: '<domain>',
    load: async () => (await import('./domain.ts')).removeDomainCommand,
  },
  {
    name: 'queue list',
    summary:
      'list mail and why it is where it is; without a state, what is still on its way; ended, of the newest million',
    options: [
      ['--to <address>', 'all mail to this recipient, ended mail too'],
      [
        '--state <state>',
        'queued, deferred, held, sending, delivered, relayed, bounced ... or ended',
      ],
      ['--project <id>', 'of this project only'],
      ['--domain <domain>', 'recipient domain'],
      ['--sender-domain <domain>', 'domain of the From address'],
      ['--limit <count>', 'at most so many; 1,000 if absent'],
    ],
    load: async () => (await import('./queue/list.ts')).listQueueCommand,
  },
  {
    name: 'queue show',
    summary: 'tell the story of an email: why it is where it is, every attempt, step and reply',
    args: idArgument,
    load: async () => (await import('./queue/show.ts')).showEmailCommand,
  },
  {
    name: 'queue retry',
    summary: 'try now, also what has failed',
    args: '<id...>',
    load: async () => (await import('./queue/operate.ts')).retryCommand,
  },
  {
    name: 'queue cancel',
    summary: 'give up',
    args: '<id...>',
    load: async () => (await import('./queue/operate.ts')).cancelCommand,
  },
  {
    name: 'queue sites',
    summary:
      'list destinations: connections reserved, rate, back-off, and the reply that caused it',
    options: [['--lift <site>', 'end the back-off of a destination, also by a recipient domain']],
    load: async () => (await import('./queue/sites.ts')).sitesCommand,
  },
  {
    name: 'queue holds',
    summary: 'list what is held, and how to release it',
    load: async () => (await import('./queue/operate.ts')).listHoldsCommand,
  },
  {
    name: 'queue hold',
    summary: 'hold all mail to a domain, now and to come',
    options: [domainOption],
    load: async () => (await import('./queue/operate.ts')).holdCommand,
  },
  {
    name: 'queue release',
    summary: 'let it go on',
    options: [domainOption],
    load: async () => (await import('./queue/operate.ts')).releaseCommand,
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
    summary:
      'list mail to postmaster and abuse, what could not be read or was capped, newest first',
    options: [['--all', 'whatever came in']],
    load: async () => (await import('./inbound.ts')).listInboundCommand,
  },
  {
    name: 'inbound show',
    summary: 'print a message as it came, or what is known of it when it is gone',
    args: idArgument,
    options: [['--facts', 'what is known of it in any case']],
    load: async () => (await import('./inbound.ts')).showInboundCommand,
  },
  {
    name: 'inbound retry',
    summary: 'read again what could not be read',
    args: '[id...]',
    options: [['--failed', 'all of it']],
    load: async () => (await import('./inbound.ts')).retryInboundCommand,
  },
  {
    name: 'inbound delete',
    summary: 'forget messages, which makes room for others',
    args: '<id...>',
    load: async () => (await import('./inbound.ts')).deleteInboundCommand,
  },
  {
    name: 'suppressions list',
    summary: 'list them, newest first; or those whose suppression is held',
    options: [
      ['--project <id>', 'of this project only'],
      ['--reason <reason>', 'HARD_BOUNCE, COMPLAINT, MANUAL or STRIKES'],
      ['--search <text>', 'part of the address'],
      ['--held', 'what waits for confirm or undo, or for a second look at the domain'],
      ['--limit <count>', 'at most so many; 100 if absent'],
      ['--cursor <cursor>', 'the next page, as the one before named it'],
    ],
    load: async () => (await import('./suppressions.ts')).listSuppressionsCommand,
  },
  {
    name: 'suppressions add',
    summary: 'suppress addresses and unsubscribe their contacts',
    args: '<address...>',
    options: [
      ['!--project <id>', 'whose list'],
      ['--reason <reason>', 'MANUAL if absent; HARD_BOUNCE, COMPLAINT or STRIKES'],
    ],
    load: async () => (await import('./suppressions.ts')).addSuppressionsCommand,
  },
  {
    name: 'suppressions remove',
    summary: 'let addresses be sent to again; who is unsubscribed stays so',
    args: '<address...>',
    options: [['!--project <id>', 'whose list']],
    load: async () => (await import('./suppressions.ts')).removeSuppressionsCommand,
  },
  {
    name: 'suppressions confirm',
    summary: 'the bounces were right: suppress what too many bounces at once left held',
    options: [
      ['!--since <when>', 'an instant, or how long ago: 30m, 2h'],
      ['--project <id>', 'of this project only'],
    ],
    load: async () => (await import('./suppressions.ts')).confirmSuppressionsCommand,
  },
  {
    name: 'suppressions undo',
    summary:
      'the bounces were wrong: drop what is held, take back what they suppressed and unsubscribed',
    options: [
      ['!--since <when>', 'an instant, or how long ago: 30m, 2h'],
      ['--project <id>', 'of this project only'],
    ],
    load: async () => (await import('./suppressions.ts')).undoSuppressionsCommand,
  },
  {
    name: 'sandbox list',
    summary: 'list messages, newest first',
    load: async () => (await import('./sandbox/messages.ts')).listSandboxCommand,
  },
  {
    name: 'sandbox show',
    summary: 'print a message as it arrived, or one part of it decoded',
    args: idArgument,
    options: [
      ['--html', 'the HTML part'],
      ['--text', 'the text part'],
    ],
    load: async () => (await import('./sandbox/messages.ts')).showSandboxCommand,
  },
  {
    name: 'sandbox open',
    summary: 'show a message in a browser of this machine',
    args: idArgument,
    load: async () => (await import('./sandbox/open.ts')).openSandboxCommand,
  },
  {
    name: 'bounce inspect',
    summary: 'print what is understood of bounces, complaints and replies',
    args: '<file...>',
    load: async () => (await import('./bounce.ts')).inspectBouncesCommand,
  },
  {
    name: 'version',
    summary: 'print the version',
    load: async () => (await import('./version.ts')).version,
  },
]
