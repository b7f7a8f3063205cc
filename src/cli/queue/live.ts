/** What the running server knows, for commands that explain mail. */
import type { FindLiveState } from '../../features/messages/explain/explain-emails.ts'
import { type AskDeps, askServer } from '../../features/questions/ask.ts'
import { escapeControls } from '../engine/text.ts'

type Live = Awaited<ReturnType<FindLiveState>>

export type LiveSource = {
  find: FindLiveState
  /** What was found; null as long as nobody had to be asked. */
  found(): Live | null
}

export function createLiveSource(core: AskDeps): LiveSource {
  let live: Live | null = null
  return {
    find: async (question) => {
      const asked = await askServer(core, { kind: 'queue', question })
      live = asked.server === 'running' ? { server: 'running', ...asked.answer } : asked
      return live
    },
    found: () => live,
  }
}

/** What to say of a server that runs and does not answer. */
export function describeSilence(live: Live | null): string[] {
  if (live?.server !== 'silent') return []
  return ['The server did not answer within 2 s: what only it knows is not shown.']
}

/** `pillarbox queue release --domain dest.test`, as a shell takes it. */
export function formatCommand(words: readonly string[]): string {
  return ['pillarbox', ...words].map(quoteWord).join(' ')
}

function quoteWord(word: string): string {
  const shown = escapeControls(word)
  return /^[\p{L}\p{N}@%+=:,./_-]+$/u.test(shown) ? shown : `'${shown.replaceAll("'", "'\\''")}'`
}
