/**
 * Renders the message of a request once and stores it before the first attempt, so that each attempt
 * sends the same under one id.
 */
import { sql } from '../../../../store/drizzle.ts'
import { workflowRequests } from '../../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Base } from '../../../ground/base.ts'
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
  return async (loaded) => {
    const { request, number, stepExecutionId } = loaded
    if (request !== null) return { message: request }
    const outcome = await renderRequest(deps, loaded)
    if ('error' in outcome) return outcome
    const values = { number, stepExecutionId, request: outcome.message }
    const stored = await deps.store.write((tx) => tx.execute(storeMessage, values))
    return stored === 0 ? undefined : outcome
  }
}
