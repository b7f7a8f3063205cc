/** What `serve` prints behind the line that says it is ready: how to begin. */
import sea from 'node:sea'
import type { App } from '../app.ts'
import { quoteWord } from '../config/shell-word.ts'
import { SANDBOX_SENDER } from '../features/tenancy/accounts/projects/sandbox-project.ts'
import type { CommandContext } from './engine/command.ts'
import { formatFields } from './engine/text.ts'

type Shown = Pick<CommandContext, 'configPath' | 'isJson'>
type Sandbox = NonNullable<App['sandbox']>
type Setup = NonNullable<App['setup']>
/** The addresses of the API and of the page to log in; `login` is null while nobody may log in. */
type Addresses = { api: string; login: string | null }

/**
 * The text of the sandbox: how to send a message and see it arrive, and where to log in; one line of JSON with
 * --json.
 */
export function formatWelcome(context: Shown, sandbox: Sandbox, { api, login }: Addresses): string {
  const curl = curlLine(sandbox, api)
  if (context.isJson) return JSON.stringify({ event: 'sandbox', ...sandbox, curl, login })
  const pillarbox = programName(context)
  const lines = [
    '',
    'Sandbox mode: the whole pipeline runs, and all mail stays on this machine.',
    '',
    ...['Send a message:', '', curl, ''],
  ]
  if (sandbox.kind === 'existing') {
    const renew = `${pillarbox} project keys ${sandbox.project.id} --regenerate`
    lines.push(`PILLARBOX_KEY is the secret key of the project. To create a new one: ${renew}`)
  }
  lines.push(`List the mail that arrived: ${pillarbox} sandbox list`)
  if (login !== null) lines.push(`Log in at ${login}`)
  if (sandbox.kind === 'created') lines.push(...formatCredentials(sandbox))
  return lines.join('\n')
}

/**
 * The text of a server whose first user can be made in a browser; one line of JSON with --json. Only a terminal
 * gets the link: what is printed elsewhere often ends in a journal that others read.
 */
export function formatSetup(
  context: Shown & { terminal: { stdout: { isTTY?: boolean } } },
  { link, file, expiresAt }: Setup,
): string {
  const isAtTerminal = context.terminal.stdout.isTTY === true
  if (context.isJson) {
    const shown = { event: 'setup', file, expiresAt }
    return JSON.stringify(isAtTerminal ? { ...shown, link } : shown)
  }
  const renew = `${programName(context)} setup-link`
  const none = 'Nobody can log in yet.'
  if (isAtTerminal) {
    const valid = `It works once, for 24 hours, and until the next start. A new one: ${renew}`
    return ['', `${none} Make the first user in a browser:`, '', link, '', valid].join('\n')
  }
  const place = file === null ? `${renew} prints the link` : `The link is in ${file}`
  return `${none} The first user is made in a browser. ${place}.`
}

function formatCredentials({ user, keys }: Extract<Sandbox, { kind: 'created' }>): string[] {
  const fields = {
    user: user.address,
    password: user.password,
    'secret key': keys.secret,
    'public key': keys.public,
  }
  return ['', 'Created for a first try and shown only once:', '', formatFields(fields)]
}

function curlLine(sandbox: Sandbox, url: string): string {
  const authorization =
    sandbox.kind === 'created'
      ? `'Authorization: Bearer ${sandbox.keys.secret}'`
      : '"Authorization: Bearer $PILLARBOX_KEY"'
  const message = JSON.stringify({
    to: 'you@example.net',
    from: SANDBOX_SENDER.address,
    subject: 'Hello',
    body: '<p>It works.</p>',
  })
  const type = "'Content-Type: application/json'"
  return `curl ${url}/v1/send -H ${authorization} -H ${type} -d '${message}'`
}

/** Returns the program as its users call it; from source, it runs as an npm script. */
function programName({ configPath }: Pick<Shown, 'configPath'>): string {
  const program = sea.isSea() ? 'pillarbox' : 'npm run -s pillarbox --'
  return configPath === undefined ? program : `${program} --config ${quoteWord(configPath)}`
}
