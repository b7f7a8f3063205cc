/** `setup-link`: a new link to make the first user in a browser, while nobody may log in. */
import { renewSetupLink } from '../features/tenancy/accounts/setup/link.ts'
import { type CommandContext, type Result, withCore } from './engine/command.ts'

export async function setupLinkCommand(context: CommandContext): Promise<Result> {
  const made = await withCore(context, renewSetupLink)
  const lines = [
    'Make the first user in a browser:',
    '',
    made.link,
    '',
    'It works once, for 24 hours, and until the next start of the server. Older links have ended.',
  ]
  return { json: made, text: lines.join('\n') }
}
