/**
 * The server's side of `server_questions`: after another process has written to the database, it
 * answers the open questions and later deletes old ones. Without questions it does no work.
 */
import { describeError } from '../../../base/errors.ts'
import { isNull, sql } from '../../../store/drizzle.ts'
import { serverQuestions } from '../../../store/schema/service.ts'
import { parameter, statement } from '../../../store/statement.ts'
import { createBeside } from '../../../work/beside.ts'
import { startLoop } from '../../../work/loop.ts'
import type { Base } from '../../ground/base.ts'
import { findLiveStatus } from '../../mail/messages/explain/live-status.ts'
import type { QueueNotifier } from '../../mail/messages/queue/notifier.ts'
import type { Throttle } from '../../mail/messages/queue/throttle.ts'
import type { Doctor } from '../doctor/doctor.ts'
import { createLogLevel } from '../log-level.ts'
import type { AnswerOf, QuestionKind, QuestionOf, StoredAnswer } from './questions.ts'
import { liftSite, listSites } from './sites.ts'

type Answering = { stop(): Promise<void> }

type AnswerDeps = Pick<Base, 'store' | 'outbound' | 'now' | 'log'> & {
  throttle: Throttle
  queueNotifier: QueueNotifier
  doctor: Pick<Doctor, 'runSince'>
}

/**
 * After this time the command has read the answer or has given up, so the question is not answered.
 */
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
  // A question that takes long to answer holds back no other.
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
  // Questions that an earlier server left.
  beside.run(answerAll)
  return {
    stop: async () => {
      logLevel.stop()
      unwatch()
      await Promise.all([beside.stop(), deletion.stop()])
    },
  }
}
