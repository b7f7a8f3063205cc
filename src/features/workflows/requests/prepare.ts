/**
 * Renders the message of a request once and stores it before the first attempt, so that each attempt
 * sends the same under one id. The requests of a project are rendered one at a time, and projects take
 * turns, so that templates that take long delay mostly their own project.
 */
import { sql } from '../../../store/drizzle.ts'
import { workflowRequests } from '../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../base.ts'
import type { LoadedRequest } from './load.ts'
import { type RenderOutcome, renderRequest } from './render.ts'

/** Returns undefined if the request is gone. */
export type Prepare = (loaded: LoadedRequest) => Promise<RenderOutcome | undefined>

type Deps = Pick<Base, 'store' | 'config' | 'keyring' | 'outbound' | 'now'>

const storeMessage = statement((db) =>
  db
    .update(workflowRequests)
    .set({ request: parameter('request') })
    .where(
      sql`${workflowRequests.executionNumber} = ${parameter('number')}
        and ${workflowRequests.stepExecutionId} = ${parameter('stepExecutionId')}`,
    ),
)

export function createPrepare(deps: Deps): Prepare {
  const tails = new Map<string, Promise<unknown>>()

  function inTurn<T>(projectId: string, act: () => Promise<T>): Promise<T> {
    const result = (tails.get(projectId) ?? Promise.resolve()).then(act)
    const tail = result
      .catch(() => undefined)
      .then(() => {
        if (tails.get(projectId) === tail) tails.delete(projectId)
      })
    tails.set(projectId, tail)
    return result
  }

  return async (loaded) => {
    const { request, number, stepExecutionId, projectId } = loaded
    if (request !== null) return { message: request }
    const outcome = await inTurn(projectId, () => renderRequest(deps, loaded))
    if ('error' in outcome) return outcome
    const values = { number, stepExecutionId, request: outcome.message }
    const stored = await deps.store.write((tx) => tx.execute(storeMessage, values))
    return stored === 0 ? undefined : outcome
  }
}
