/**
 * Asks the running server for facts that the database does not have, for commands that explain
 * mail.
 */
import type { FindLiveState } from '../../features/mail/messages/explain/explain-emails.ts'
import { type AskDeps, askServer } from '../../features/operation/questions/ask.ts'

type LiveState = Awaited<ReturnType<FindLiveState>>

export type LiveSource = {
  find: FindLiveState
  /** The server's answer; null while the server has not been asked. */
  found(): LiveState | null
}

export function createLiveSource(core: AskDeps): LiveSource {
  let live: LiveState | null = null
  return {
    find: async (question) => {
      const asked = await askServer(core, { kind: 'queue', question })
      live = asked.server === 'running' ? { server: 'running', ...asked.answer } : asked
      return live
    },
    found: () => live,
  }
}

/** The note that a running server did not answer; empty if it answered or was not asked. */
export function describeSilence(live: LiveState | null): string[] {
  if (live?.server !== 'silent') return []
  return ['The server did not answer within 2 s, so its live state is not shown.']
}
