/** What the running server knows, for commands that explain mail. */
import type { FindLive } from '../features/messages/operate.ts'
import { type AskDeps, askServer } from '../features/questions/ask.ts'
import { escapeControls } from './text.ts'

export function findLive(core: AskDeps): FindLive {
  return async (question) => {
    const asked = await askServer(core, { kind: 'queue', question })
    return asked.server === 'running' ? { server: 'running', ...asked.answer } : asked
  }
}

export const silentText = 'The server did not answer within 2 s: what only it knows is not shown.'

/** `pillarbox queue release --domain dest.test`, as a shell takes it. */
export function formatCommand(words: readonly string[]): string {
  return ['pillarbox', ...words].map(quoteWord).join(' ')
}

function quoteWord(word: string): string {
  const shown = escapeControls(word)
  return /^[\p{L}\p{N}@%+=:,./_-]+$/u.test(shown) ? shown : `'${shown.replaceAll("'", "'\\''")}'`
}
