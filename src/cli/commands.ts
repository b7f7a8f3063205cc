/**
 * The table of commands: name, summary, arguments and options. `engine/program.ts` turns it into
 * the command line. The code of a command is loaded when the command runs.
 */
import { NOTICED_WITHIN_MS } from '../store/files/external-changes.ts'
import type { CommandSpec, Result } from './engine/command.ts'

/**
 * The groups of commands (all words of a name but the last) and their descriptions in
 * `pillarbox --help`.
 */
export const GROUPS: Record<string, string> = {
  config: 'check and show the configuration',
  log: 'show and change the level of the log',
  user: 'manage users',
  project: 'manage projects and their keys',
  'project member': 'manage the members of a project',
  domain: 'manage sender domains',
  queue: 'inspect and control mail on its way',
  inbound: 'inspect mail to the server itself, unreadable mail, and mail over a sender limit',
  suppressions: 'manage suppressed addresses',
  sandbox: 'read mail that the sandbox stored',
  bounce: 'analyse bounces',
}

const ID_ARGUMENT = '<id>'
const REPLIES_OPTION: [string, string] = [
  '--replies',
  'also show the MX record that brings replies, and all other mail of the domain, to this server',
]
const USER_OPTION: [string, string] = ['!--email <address>', 'address of the user']
const PASSWORD_OPTIONS: [string, string][] = [
  ['--password-stdin', 'read the password from standard input'],
  ['--password <password>', 'the password, visible to anyone who can list processes'],
]
const DOMAIN_OPTION: [string, string] = ['!--domain <domain>', 'recipient domain']

export const COMMANDS: CommandSpec[] = [
  {
    name: 'serve',
    summary: 'run the server',
    load: async () => (await import('./serve.ts')).serveCommand,
  },
  {
    name: 'init',
    summary: 'write a pillarbox.toml that explains every key; asks at a terminal',
    options: [
      ['--hostname <host>', 'name of this server in SMTP sessions'],
      ['--base-url <url>', 'public address of this server'],
      ['--data-dir <folder>', 'folder of the database and the secret'],
      ['--mode <mode>', 'sandbox, direct (to the MX) or relay (a smarthost)'],
      ['--inbound', 'receive bounces, complaints and replies at port 25'],
      ['--submission', 'accept mail from programs at ports 587 and 465'],
      ['--relay-host <host>', 'the smarthost'],
      ['--relay-port <port>', 'its port; by default that of --relay-tls'],
      ['--relay-tls <tls>', 'TLS to it: starttls (default), implicit or none'],
      ['--relay-username <name>', 'user name at the smarthost'],
      ['--relay-password-file <file>', 'file with the password at the smarthost'],
      ['--acme-email <address>', "your address for certificates from Let's Encrypt"],
      ['--https', 'serve HTTPS at port 443 without a proxy; needs --acme-email'],
      ['--backup-dir <folder>', 'folder of daily backups'],
      ['--user <address>', 'address of the first user, who operates the server'],
      ...PASSWORD_OPTIONS,
      ['--yes', 'ask nothing'],
    ],
    load: async () => (await import('./init/init.ts')).initCommand,
  },
  {
    name: 'setup-link',
    summary: 'make a new link to create the first user in a browser, while nobody can log in',
    load: async () => (await import('./setup-link.ts')).setupLinkCommand,
  },
  {
    name: 'systemd',
    summary: 'print the systemd unit, or set up the service',
    options: [
      ['--install', 'set up the user, the folders, the program and the unit'],
      ['--root <folder>', 'the root of the system to install into; default /'],
      ['--program <path>', 'the path of the program in the unit; the program is not copied'],
      ['--force', 'replace a unit that differs'],
    ],
    load: async () => (await import('./systemd/systemd.ts')).systemdCommand,
  },
  {
    name: 'config check',
    summary: 'check the configuration and print warnings',
    load: async () => (await import('./config.ts')).checkConfigCommand,
  },
  {
    name: 'config show',
    summary: 'print the effective values; secrets are hidden',
    load: async () => (await import('./config.ts')).showConfigCommand,
  },
  {
    name: 'doctor',
    summary:
      'check the server, its DNS records, certificates, disk and backups, and print every fix',
    options: [['--full', 'also check the integrity of the database, which reads all of it']],
    load: async () => (await import('./doctor.ts')).doctorCommand,
  },
  {
    name: 'backup',
    summary: 'write a backup of everything to a new file, or to standard output (-)',
    args: '<file>',
    options: [
      [
        '--without-secret',
        'leave out the secret, the secrets of the configuration and certificates',
      ],
      ['--scheduled', 'do not record the backup; for the schedule of the server'],
    ],
    load: async () => (await import('./backup.ts')).backupCommand,
  },
  {
    name: 'verify',
    summary: 'check a backup without restoring it; - reads standard input',
    args: '<file>',
    load: async () => (await import('./verify.ts')).verifyCommand,
  },
  {
    name: 'restore',
    summary: 'restore a backup into data_dir, or into another folder; - reads standard input',
    args: '<file>',
    options: [['--to <folder>', 'data folder to restore into, with the configuration beside it']],
    load: async () => (await import('./restore.ts')).restoreCommand,
  },
  {
    name: 'export',
    summary: 'write everything of a project as NDJSON and files, without secrets',
    options: [
      ['!--project <id>', 'the project'],
      ['--to <folder>', 'a new folder; by default one in the current folder'],
    ],
    load: async () => (await import('./export.ts')).exportCommand,
  },
  {
    name: 'log level',
    summary:
      "show the level of the running server's log, or change it for a while; a restart begins with log.level",
    args: '[level]',
    options: [['--for <duration>', 'how long the level holds, such as 10m (the default) or 2h']],
    load: async () => (await import('./log-level.ts')).logLevelCommand,
  },
  {
    name: 'user create',
    summary:
      'create a user; asks for the password at a terminal, otherwise generates and prints it once',
    options: [
      USER_OPTION,
      ...PASSWORD_OPTIONS,
      ['--operator', 'the user may see the state of the server itself'],
    ],
    load: async () => (await import('./user.ts')).createUserCommand,
  },
  {
    name: 'user password',
    summary:
      'set a new password, entered or generated as in user create; ends all sessions of the user',
    options: [USER_OPTION, ...PASSWORD_OPTIONS],
    load: async () => (await import('./user.ts')).setPasswordCommand,
  },
  {
    name: 'user operator',
    summary: 'make a user an operator of this server, or no longer one',
    options: [
      USER_OPTION,
      ['--on', 'the user may see the state of the server itself'],
      ['--off', 'the user may not'],
    ],
    load: async () => (await import('./user.ts')).operatorCommand,
  },
  {
    name: 'user verify',
    summary: 'count the address of a user as verified',
    options: [USER_OPTION, ['--off', 'count the address as not verified any more']],
    load: async () => (await import('./user.ts')).verifyUserCommand,
  },
  {
    name: 'user totp',
    summary: 'turn off the second factor of a user who has lost it; ends all sessions of the user',
    options: [USER_OPTION, ['--disable', 'turn it off']],
    load: async () => (await import('./user.ts')).totpCommand,
  },
  {
    name: 'user delete',
    summary: 'delete a user who owns no project',
    options: [USER_OPTION],
    load: async () => (await import('./user.ts')).deleteUserCommand,
  },
  {
    name: 'user list',
    summary: 'list users',
    load: async () => (await import('./user.ts')).listUsersCommand,
  },
  {
    name: 'project create',
    summary: 'create a project and print both its keys once',
    options: [
      ['!--name <name>', 'name of the project; also the sender name of mail without one'],
      ['!--owner <address>', 'address of the user who owns the project'],
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
    args: ID_ARGUMENT,
    options: [
      ['--name <name>', 'new name'],
      ['--tracking <mode>', 'tracking of opens and clicks: ENABLED, DISABLED or MARKETING_ONLY'],
      ['--language <language>', 'language of pages and footers, such as "en" or "pt-BR"'],
      ['--address <text>', 'postal address for the footer of marketing mail; "" for none'],
      ['--submission-templates <yes|no>', 'render {{ … }} in mail that programs submit by SMTP'],
      ['--on-template-fault <send|refuse>', 'what a fault in a template of a send request does'],
      [
        '--public-key-may-update <yes|no>',
        'whether the public key may change contacts and learn their ids',
      ],
      [
        '--disable <reason>',
        'refuse its mail, for a reason: MANUAL, EMAIL_REPUTATION, PHISHING_DETECTED ...',
      ],
      ['--enable', 'accept its mail again'],
    ],
    load: async () => (await import('./project.ts')).updateProjectCommand,
  },
  {
    name: 'project security',
    summary: 'show bounces and complaints of a project, and the limits that they reach',
    args: ID_ARGUMENT,
    load: async () => (await import('./project.ts')).projectSecurityCommand,
  },
  {
    name: 'project keys',
    summary: 'show the keys of a project; the secret key is masked',
    args: ID_ARGUMENT,
    options: [
      [
        '--regenerate',
        `create new keys and print them once; a running server refuses the old ones within ${NOTICED_WITHIN_MS} ms`,
      ],
    ],
    load: async () => (await import('./project.ts')).projectKeysCommand,
  },
  {
    name: 'project delete',
    summary: 'delete a project and all of its data; asks for confirmation at a terminal',
    args: ID_ARGUMENT,
    options: [['--yes', 'do not ask']],
    load: async () => (await import('./project.ts')).deleteProjectCommand,
  },
  {
    name: 'project member list',
    summary: 'list the members of a project, oldest first',
    args: ID_ARGUMENT,
    load: async () => (await import('./project.ts')).listMembersCommand,
  },
  {
    name: 'project member add',
    summary: 'add a user to a project',
    args: ID_ARGUMENT,
    options: [USER_OPTION, ['--role <role>', 'MEMBER (default) or ADMIN']],
    load: async () => (await import('./project.ts')).addMemberCommand,
  },
  {
    name: 'project member role',
    summary: 'change the role of a member; a new owner replaces the old one, who becomes an ADMIN',
    args: ID_ARGUMENT,
    options: [USER_OPTION, ['!--role <role>', 'MEMBER, ADMIN or OWNER']],
    load: async () => (await import('./project.ts')).changeRoleCommand,
  },
  {
    name: 'project member remove',
    summary: 'remove a member from a project; not the owner',
    args: ID_ARGUMENT,
    options: [USER_OPTION],
    load: async () => (await import('./project.ts')).removeMemberCommand,
  },
  {
    name: 'domain add',
    summary: 'add a domain and print the DNS records to create',
    args: '<domain>',
    options: [
      ['!--project <id>', 'project that sends from the domain'],
      ['--check', "also check the server's own DNS records"],
      REPLIES_OPTION,
    ],
    load: async () => (await import('./domain.ts')).addDomainCommand,
  },
  {
    name: 'domain list',
    summary: 'list domains',
    options: [['--project <id>', 'this project only']],
    load: async () => (await import('./domain.ts')).listDomainsCommand,
  },
  {
    name: 'domain verify',
    summary: 'check the DNS records of a domain now',
    args: '<domain>',
    options: [
      ['--trust', 'mark the domain as verified without a check, for sandbox and tests'],
      REPLIES_OPTION,
    ],
    load: async () => (await import('./domain.ts')).verifyDomainCommand,
  },
  {
    name: 'domain remove',
    summary: 'delete a domain and its keys; nothing more is sent from it',
    args: '<domain>',
    load: async () => (await import('./domain.ts')).removeDomainCommand,
  },
  {
    name: 'queue list',
    summary:
      'list mail on its way and the reason why it waits; with --state also finished mail, among the newest million emails',
    options: [
      ['--to <address>', 'all mail to this recipient, finished mail too'],
      [
        '--state <state>',
        'queued, deferred, held, sending, delivered, relayed, bounced ... or ended (any final state)',
      ],
      ['--project <id>', 'this project only'],
      ['--domain <domain>', 'recipient domain'],
      ['--sender-domain <domain>', 'domain of the From address'],
      ['--limit <count>', 'maximum number of emails; 1,000 by default'],
    ],
    load: async () => (await import('./queue/list.ts')).listQueueCommand,
  },
  {
    name: 'queue show',
    summary:
      'show the history of an email: its state and the reason, every attempt, step and reply',
    args: ID_ARGUMENT,
    load: async () => (await import('./queue/show.ts')).showEmailCommand,
  },
  {
    name: 'queue retry',
    summary: 'try emails now, failed ones too',
    args: '<id...>',
    load: async () => (await import('./queue/operate.ts')).retryCommand,
  },
  {
    name: 'queue cancel',
    summary: 'stop delivering emails; their state becomes failed',
    args: '<id...>',
    load: async () => (await import('./queue/operate.ts')).cancelCommand,
  },
  {
    name: 'queue sites',
    summary: 'list sites: reserved connections, rate, back-off and the reply that caused it',
    options: [
      [
        '--lift <site>',
        'end the back-off of a site; takes the site or one of its recipient domains',
      ],
    ],
    load: async () => (await import('./queue/sites.ts')).sitesCommand,
  },
  {
    name: 'queue holds',
    summary: 'list held domains and projects, and how to release them',
    load: async () => (await import('./queue/operate.ts')).listHoldsCommand,
  },
  {
    name: 'queue hold',
    summary: 'hold all present and future mail to a domain',
    options: [DOMAIN_OPTION],
    load: async () => (await import('./queue/operate.ts')).holdCommand,
  },
  {
    name: 'queue release',
    summary: 'deliver held mail to a domain again, or let go what a restored database holds',
    options: [
      ['--domain <domain>', 'recipient domain'],
      ['--restored', 'all that is held since the database was brought back from a copy'],
      ['--project <id>', 'with --restored: of this project only'],
    ],
    load: async () => (await import('./queue/operate.ts')).releaseCommand,
  },
  {
    name: 'fence',
    summary:
      'hold all that acts by itself, after the database was brought back from a copy without a restore',
    load: async () => (await import('./fence.ts')).fenceCommand,
  },
  {
    name: 'send',
    summary: 'send an email',
    options: [
      ['!--project <id>', 'project that sends'],
      ['!--from <address>', 'sender, at a verified domain of the project'],
      ['!--to <address>', 'one recipient'],
      ['!--subject <text>', 'subject; may contain {{ placeholders }}'],
      ['--html <html>', 'HTML body'],
      ['--html-file <file>', 'file with the HTML body'],
      [
        '--text <text>',
        'text part, made from the HTML by default; without HTML, the whole message',
      ],
    ],
    load: async () => (await import('./send.ts')).sendCommand,
  },
  {
    name: 'inbound list',
    summary:
      'list mail to postmaster and abuse, unreadable mail, and mail over a sender limit, newest first',
    options: [['--all', 'all received mail']],
    load: async () => (await import('./inbound.ts')).listInboundCommand,
  },
  {
    name: 'inbound show',
    summary: 'print a message as received, or its metadata once its text is deleted',
    args: ID_ARGUMENT,
    options: [['--facts', 'print the metadata even if the text is stored']],
    load: async () => (await import('./inbound.ts')).showInboundCommand,
  },
  {
    name: 'inbound retry',
    summary: 'try again to read messages that could not be read',
    args: '[id...]',
    options: [['--failed', 'all unreadable messages']],
    load: async () => (await import('./inbound.ts')).retryInboundCommand,
  },
  {
    name: 'inbound delete',
    summary: 'delete messages, which frees space for others',
    args: '<id...>',
    load: async () => (await import('./inbound.ts')).deleteInboundCommand,
  },
  {
    name: 'suppressions list',
    summary: 'list suppressed addresses, newest first',
    options: [
      ['--project <id>', 'this project only'],
      ['--reason <reason>', 'HARD_BOUNCE, COMPLAINT, MANUAL or STRIKES'],
      ['--search <text>', 'part of the address'],
      ['--held', 'list held suppressions, which wait for confirm, undo or a second DNS check'],
      ['--limit <count>', 'maximum number of addresses; 100 by default'],
      ['--cursor <cursor>', 'cursor of the next page, as printed below the previous page'],
    ],
    load: async () => (await import('./suppressions.ts')).listSuppressionsCommand,
  },
  {
    name: 'suppressions add',
    summary: 'suppress addresses and unsubscribe their contacts',
    args: '<address...>',
    options: [
      ['!--project <id>', 'project of the suppression list'],
      ['--reason <reason>', 'MANUAL (default), HARD_BOUNCE, COMPLAINT or STRIKES'],
    ],
    load: async () => (await import('./suppressions.ts')).addSuppressionsCommand,
  },
  {
    name: 'suppressions remove',
    summary: 'allow mail to addresses again; unsubscribed contacts stay unsubscribed',
    args: '<address...>',
    options: [['!--project <id>', 'project of the suppression list']],
    load: async () => (await import('./suppressions.ts')).removeSuppressionsCommand,
  },
  {
    name: 'suppressions confirm',
    summary: 'suppress held addresses, because their bounces were correct',
    options: [
      ['!--since <when>', 'an instant, or how long ago, such as 30m or 2h'],
      ['--project <id>', 'this project only'],
    ],
    load: async () => (await import('./suppressions.ts')).confirmSuppressionsCommand,
  },
  {
    name: 'suppressions undo',
    summary:
      'drop held suppressions and undo suppressions by bounces, because the bounces were wrong',
    options: [
      ['!--since <when>', 'an instant, or how long ago, such as 30m or 2h'],
      ['--project <id>', 'this project only'],
    ],
    load: async () => (await import('./suppressions.ts')).undoSuppressionsCommand,
  },
  {
    name: 'sandbox list',
    summary: 'list messages, newest first',
    options: [
      ['--to <address>', 'mail to this address only, or to all that begin like it'],
      ['--limit <count>', 'maximum number of messages; 100 by default'],
    ],
    load: async () => (await import('./sandbox/messages.ts')).listSandboxCommand,
  },
  {
    name: 'sandbox show',
    summary: 'print a message as it arrived, or one decoded part of it',
    args: ID_ARGUMENT,
    options: [
      ['--html', 'the HTML part'],
      ['--text', 'the text part'],
    ],
    load: async () => (await import('./sandbox/messages.ts')).showSandboxCommand,
  },
  {
    name: 'sandbox open',
    summary: 'show all messages, or one, in a browser on this machine',
    args: '[id]',
    load: async () => (await import('./sandbox/open.ts')).openSandboxCommand,
  },
  {
    name: 'bounce inspect',
    summary: 'print how bounces, complaints and replies are classified',
    args: '<file...>',
    load: async () => (await import('./bounce.ts')).inspectBouncesCommand,
  },
  {
    name: 'version',
    summary: 'print the version',
    load: async () => versionCommand,
  },
]

async function versionCommand(): Promise<Result> {
  const { productVersion } = await import('../config/version.ts')
  const json = { version: productVersion(), node: process.versions.node }
  return { json, text: `pillarbox ${json.version} (Node.js ${json.node})` }
}
