/**
 * Questions of commands to the running server, about state that is only in its memory. Question and
 * answer are JSON in `server_questions`; each kind has its own shapes.
 */
import type { LogLevel } from '../../../base/log.ts'
import type { SiteStatus } from '../../../outbound/sites/site-status.ts'
import type { LiveStatus, LiveStatusQuery } from '../../mail/messages/explain/live-status.ts'
import type { CheckRun } from '../doctor/run-checks.ts'
import type { LogLevelState } from '../log-level.ts'

type Questions = {
  /** Why these emails wait. */
  queue: { question: LiveStatusQuery; answer: LiveStatus }
  /** The sites that the server knows, those with problems first. */
  sites: { question: Record<string, never>; answer: { sites: SiteStatus[]; left: number } }
  /** The checks of the server: a run that began at `since` or later, null while there is none. */
  checks: { question: { since: number }; answer: { run: CheckRun | null } }
  /** Shows the level of the log; with `change`, sets it for so long. */
  'log-level': {
    question: { change?: { level: LogLevel; forMs: number } }
    answer: LogLevelState
  }
  /** Ends the back-off of a site. */
  lift: {
    question: {
      /** A site, or a domain (A-labels) whose mail goes there. */
      site: string
      /** Recipient domains with waiting emails. */
      domains: readonly string[]
    }
    answer: {
      site: string
      /** Whether the server knows the site. */
      isKnown: boolean
      /** Whether the site was in back-off. */
      isLifted: boolean
      /** The given domains whose mail goes to the site. */
      domains: string[]
      /** The number of emails that waited for these domains and are tried at once. */
      waiting: number
    }
  }
}

export type QuestionKind = keyof Questions
export type QuestionOf<Kind extends QuestionKind> = Questions[Kind]['question']
export type AnswerOf<Kind extends QuestionKind> = Questions[Kind]['answer']

/** The answer as stored in the row. */
export type StoredAnswer = { answer: unknown } | { error: string }
