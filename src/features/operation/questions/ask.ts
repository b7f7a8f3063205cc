/**
 * Asks the running server a question from a command. The question is a row, which the server
 * notices like any write of another process. The server writes its answer into the row and deletes
 * the row later.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { nativeBindingPath } from '../../../config/addon.ts'
import { eq } from '../../../store/drizzle.ts'
import { isServed } from '../../../store/files/is-served.ts'
import { newId } from '../../../store/ids.ts'
import { serverQuestions } from '../../../store/schema/service.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../ground/base.ts'
import type { AnswerOf, QuestionKind, QuestionOf, StoredAnswer } from './answer.ts'

/** `none`: no server runs. `silent`: a server runs but has not answered in time. */
type AskedQuestion<Answer> =
  | { server: 'running'; answer: Answer }
  | { server: 'none' }
  | { server: 'silent' }

export type AskDeps = Pick<Base, 'store' | 'config' | 'now'>

const TIMEOUT_MS = 2_000
const POLL_MS = 10

const findAnswer = statement((db) =>
  db
    .select({ answer: serverQuestions.answer })
    .from(serverQuestions)
    .where(eq(serverQuestions.id, parameter('id'))),
)

export async function askServer<Kind extends QuestionKind>(
  deps: AskDeps,
  { kind, question }: { kind: Kind; question: QuestionOf<Kind> },
  timeoutMs = TIMEOUT_MS,
): Promise<AskedQuestion<AnswerOf<Kind>>> {
  const { store, config, now } = deps
  if (!isServed(config.database.file, nativeBindingPath(config.dataDir))) return { server: 'none' }
  const id = newId()
  await store.write(async (tx) => {
    await tx.insert(serverQuestions).values({ id, question: { kind, question }, askedAt: now() })
  })
  const stored = await waitForAnswer(deps, id, performance.now() + timeoutMs)
  if (stored === undefined) {
    await store.write(async (tx) => {
      await tx.delete(serverQuestions).where(eq(serverQuestions.id, id))
    })
  }
  if (stored === undefined || 'error' in stored) return { server: 'silent' }
  return { server: 'running', answer: stored.answer as AnswerOf<Kind> }
}

async function waitForAnswer(
  { store }: AskDeps,
  id: string,
  until: number,
): Promise<StoredAnswer | undefined> {
  for (;;) {
    const row = await store.read.find(findAnswer, { id })
    if (row?.answer != null) return row.answer as StoredAnswer
    if (row === undefined || performance.now() >= until) return undefined
    await sleep(POLL_MS)
  }
}
