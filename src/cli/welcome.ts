/** The welcome text of `serve` in sandbox mode: how to send a message and see it arrive. */
import sea from 'node:sea'
import type { App } from '../app.ts'
import { quoteWord } from '../config/shell-word.ts'
import type { CommandContext } from './engine/command.ts'
import { formatFields } from './engine/text.ts'

type Shown = Pick<CommandContext, 'configPath' | 'isJson'>
type Sandbox = NonNullable<App['sandbox']>

/** The text after the ready line; one line of JSON with --json. */
export function formatWelcome(context: Shown, sandbox: Sandbox, url: string): string {
  const curl = curlLine(sandbox, url)
  if (context.isJson) return JSON.stringify({ event: 'sandbox', ...sandbox, curl })
  const pillarbox = programName(context)
  const lines = [
    '',
    'Sandbox mode: the whole pipeline runs, and all mail stays on this machine.',
    '',
  ]
  if (sandbox.kind === 'created') lines.push(...formatCredentials(sandbox))
  lines.push('Send a message:', '', curl, '')
  if (sandbox.kind === 'existing') {
    const renew = `${pillarbox} project keys ${sandbox.project.id} --regenerate`
    lines.push(`PILLARBOX_KEY is the secret key of the project. To create a new one: ${renew}`)
  }
  lines.push(`List the mail that arrived: ${pillarbox} sandbox list`)
  return lines.join('\n')
}

function formatCredentials({ user, keys }: Extract<Sandbox, { kind: 'created' }>): string[] {
  const fields = {
    user: user.address,
    password: user.password,
    'secret key': keys.secret,
    'public key': keys.public,
  }
  return ['Created for a first try and shown only once:', '', formatFields(fields), '']
}

function curlLine(sandbox: Sandbox, url: string): string {
  const authorization =
    sandbox.kind === 'created'
      ? `'Authorization: Bearer ${sandbox.keys.secret}'`
      : '"Authorization: Bearer $PILLARBOX_KEY"'
  const message = JSON.stringify({
    to: 'you@example.net',
    from: `hello@${sandbox.domain}`,
    subject: 'Hello',
    body: '<p>It works.</p>',
  })
  const type = "'Content-Type: application/json'"
  return `curl ${url}/v1/send -H ${authorization} -H ${type} -d '${message}'`
}

/** From source, the program runs as an npm script. */
function programName({ configPath }: Shown): string {
  const program = sea.isSea() ? 'pillarbox' : 'npm run -s pillarbox --'
  return configPath === undefined ? program : `${program} --config ${quoteWord(configPath)}`
}
