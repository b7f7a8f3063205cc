/**
 * Keeps the answers of an analytics call for a minute, so that a dashboard costs one query however
 * many people watch it. An answer belongs to one project and one query. While older events are
 * still being counted, no answer is kept, and each answer says that it is not complete.
 */

import { MINUTE_MS } from '../../../base/clock.ts'
import { createLru } from '../../../base/lru.ts'
import { runShared } from '../../../turns/owner.ts'
import { isAnalyticsComplete } from './complete.ts'
import type { AnalyticsDeps } from './read-counts.ts'

/**
 * `updatedAt`: part of the key of an answer, because a project that was reset has other answers
 * than before.
 */
type AskingProject = { id: string; updatedAt: number }

/** `isComplete`: false while the figures are too low, because older events are still being counted. */
export type AnalyticsAnswer<Value> = { value: Value; isComplete: boolean }

const KEPT_MS = MINUTE_MS
/** Characters of JSON that all kept answers of one call have together. */
const MAX_KEPT_SIZE = 2_000_000
/** Characters that an answer counts at least, so that at most 1,000 answers are kept. */
const MIN_KEPT_SIZE = 2_000

type Kept<Value> = { at: number; answer: AnalyticsAnswer<Value> }

/**
 * Returns a function that answers queries by `find`, or with a kept answer. The JSON of a query
 * identifies the query.
 */
export function createAnalyticsAnswers<Query extends { projectId: string }, Value extends object>(
  deps: AnalyticsDeps,
  find: (deps: AnalyticsDeps, query: Query) => Promise<Value>,
): (project: AskingProject, query: Omit<Query, 'projectId'>) => Promise<AnalyticsAnswer<Value>> {
  const kept = createLru<Kept<Value>>(MAX_KEPT_SIZE)
  const running = new Map<string, Promise<AnalyticsAnswer<Value>>>()

  async function answer(key: string, query: Query) {
    const at = deps.now()
    // Completeness is read before the figures: once the counts are complete, they stay complete.
    const isComplete = await isAnalyticsComplete(deps.store.read)
    const found = { value: await find(deps, query), isComplete }
    const size = Math.max(MIN_KEPT_SIZE, JSON.stringify(found).length)
    if (isComplete) kept.set(key, { at, answer: found }, { size })
    return found
  }

  return (project, query) => {
    const key = JSON.stringify([project.id, project.updatedAt, query])
    const known = kept.get(key)
    const age = deps.now() - (known?.at ?? 0)
    if (known !== undefined && age >= 0 && age < KEPT_MS) return Promise.resolve(known.answer)
    const begun = running.get(key)
    if (begun !== undefined) return begun
    const asked = { ...query, projectId: project.id } as Query
    const started = runShared(() => answer(key, asked)).finally(() => {
      running.delete(key)
    })
    running.set(key, started)
    return started
  }
}
