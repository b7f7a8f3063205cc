/**
 * Answers, in the running server, the questions that commands ask about state that is only in its
 * memory. Questions and answers are JSON in `server_questions`; each kind of
 * question has its own shapes.
 *
 * After another process has written to the database, the server answers the open questions and
 * later deletes old ones. Without questions it does no work.
 */
import { describeError } from '../../../base/errors.ts'
import type { LogLevel } from '../../../base/log.ts'
import type { SiteStatus } from '../../../outbound/sites/site-status.ts'
import { isNull, sql } from '../../../store/drizzle.ts'
import { serverQuestions } from '../../../store/schema/service.ts'
import { parameter, statement } from '../../../store/statement.ts'
import { createBeside } from '../../../work/beside.ts'
import { startLoop } from '../../../work/loop.ts'
import type { Base } from '../../ground/base.ts'
import {
  findLiveStatus,
  type LiveStatus,
  type LiveStatusQuery,
} from '../../mail/messages/explain/live-status.ts'
import { countWaiting } from '../../mail/messages/queue/bring-forward.ts'
import type { QueueNotifier } from '../../mail/messages/queue/notifier.ts'
import type { Throttle } from '../../mail/messages/queue/throttle.ts'
import type { Doctor } from '../doctor/doctor.ts'
import type { CheckRun } from '../doctor/run-checks.ts'
import { createLogLevel, type LogLevelState } from '../log-level.ts'

type Questions = {
  /** Asks why these emails wait. */
  queue: { question: LiveStatusQuery; answer: LiveStatus }
  /** Asks for the sites that the server knows, those with problems first. */
  sites: { question: Record<string, never>; answer: { sites: SiteStatus[]; left: number } }
  /** Asks for a run of the checks that began at `since` or later; null while there is none. */
  checks: { question: { since: number }; answer: { run: CheckRun | null } }
  /** Asks for the level of the log; with `change`, sets the level for `forMs`. */
  'log-level': {
    question: { change?: { level: LogLevel; forMs: number } }
    answer: LogLevelState
  }
  /** Ends the back-off of a site. */
  lift: {
    question: {
      /** The site, or a domain (A-labels) whose mail goes to the site. */
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
      /** Those of the given domains whose mail goes to the site. */
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

const MAX_SITES = 1_000

type SiteDeps = Pick<Base, 'store' | 'outbound'> & { queueNotifier: QueueNotifier }

type Answering = { stop(): Promise<void> }

type AnswerDeps = Pick<Base, 'store' | 'outbound' | 'now' | 'log'> & {
  throttle: Throttle
  queueNotifier: QueueNotifier
  doctor: Pick<Doctor, 'runSince'>
}

/** An older question is not answered, because its command has given up. */
const MAX_AGE_MS = 10_000

const listOpen = statement((db) =>
  db
    .select({
      id: serverQuestions.id,
      question: serverQuestions.question,
      askedAt: serverQuestions.askedAt,
    })
    .from(serverQuestions)
    .where(isNull(serverQuestions.answer)),
)

const setAnswer = statement((db) =>
  db
    .update(serverQuestions)
    .set({ answer: parameter('answer') })
    .where(sql`${serverQuestions.id} = ${parameter('id')}`),
)

const deleteOld = statement((db) =>
  db.delete(serverQuestions).where(sql`${serverQuestions.askedAt} <= ${parameter('before')}`),
)

const findAny = statement((db) =>
  db.select({ id: serverQuestions.id }).from(serverQuestions).limit(1),
)

type Answers = {
  [Kind in QuestionKind]: (question: QuestionOf<Kind>) => AnswerOf<Kind> | Promise<AnswerOf<Kind>>
}

export function startAnswering(deps: AnswerDeps, maxAgeMs = MAX_AGE_MS): Answering {
  const { store, log, now } = deps
  const logLevel = createLogLevel(deps)
  const answers: Answers = {
    queue: (question) => findLiveStatus(deps, question),
    sites: () => listSites(deps),
    checks: ({ since }) => ({ run: deps.doctor.runSince(since) }),
    lift: (question) => liftSite(deps, question),
    'log-level': ({ change }) =>
      change === undefined ? logLevel.show() : logLevel.set(change.level, change.forMs),
  }
  const beingAnswered = new Set<string>()
  const onError = (error: unknown) =>
    log.warn({ error: describeError(error) }, 'questions of commands could not be answered')
  // Answers run side by side, so that a slow one holds back no other.
  const beside = createBeside(onError)
  const deletion = startLoop({
    run: deleteExpired,
    onError,
    firstWaitMs: Number.POSITIVE_INFINITY,
    keepsAlive: false,
  })

  async function answerAll(): Promise<void> {
    const open = await store.read.list(listOpen)
    if (open.length > 0) deletion.wakeWithin(maxAgeMs)
    const fresh = open.filter(({ askedAt }) => askedAt > now() - maxAgeMs)
    for (const { id, question } of fresh) {
      if (beingAnswered.has(id)) continue
      beingAnswered.add(id)
      try {
        const answer = await answerOne(question)
        await store.write((tx) => tx.execute(setAnswer, { id, answer }))
      } finally {
        beingAnswered.delete(id)
      }
    }
  }

  async function answerOne(stored: unknown): Promise<StoredAnswer> {
    try {
      const { kind, question } = stored as { kind: QuestionKind; question: never }
      return { answer: await answers[kind](question) }
    } catch (error) {
      return { error: describeError(error) }
    }
  }

  async function deleteExpired(): Promise<number | undefined> {
    await store.write((tx) => tx.execute(deleteOld, { before: now() - maxAgeMs }))
    return (await store.read.find(findAny)) === undefined ? undefined : maxAgeMs
  }

  const unwatch = store.onExternalChange(() => beside.run(answerAll))
  // Answers the questions that an earlier server left.
  beside.run(answerAll)
  return {
    stop: async () => {
      logLevel.stop()
      unwatch()
      await Promise.all([beside.stop(), deletion.stop()])
    },
  }
}

/** Lists the sites that the server delivers to, those with problems first. */
function listSites({ outbound }: Pick<SiteDeps, 'outbound'>): AnswerOf<'sites'> {
  const sites = outbound.sites().sort(byProblem)
  return { sites: sites.slice(0, MAX_SITES), left: Math.max(0, sites.length - MAX_SITES) }
}

/** Orders sites: those with problems first, the oldest problem first; then the busiest sites. */
function byProblem(one: SiteStatus, other: SiteStatus): number {
  const since = ({ restrictedSince }: SiteStatus) => restrictedSince ?? Number.MAX_SAFE_INTEGER
  return (
    since(one) - since(other) || other.inFlight - one.inFlight || (one.site < other.site ? -1 : 1)
  )
}

/** Ends the back-off of a site, and wakes the mail that waits for the site. */
export async function liftSite(
  { store, outbound, queueNotifier }: SiteDeps,
  given: QuestionOf<'lift'>,
): Promise<AnswerOf<'lift'>> {
  const known = new Set(outbound.sites().map(({ site }) => site))
  const site = known.has(given.site) ? given.site : outbound.siteOf(given.site)
  const domains = given.domains.filter((domain) => outbound.siteOf(domain) === site)
  // Counted before the lift, because these emails leave the queue after it.
  const waiting = await countWaiting({ store }, domains)
  const isLifted = outbound.liftSite(site)
  // Wakes the queue for all lanes, because it has a time for the next visit of each lane.
  if (isLifted) queueNotifier.notify('anywhere')
  return { site, isKnown: known.has(site), isLifted, domains, waiting }
}
