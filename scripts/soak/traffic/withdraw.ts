/** Cancels emails that wait and executions of the workflow, by the API. */
import { pick } from '../../bench/seeding/random.ts'
import type { CancellationRecord } from '../history/history.ts'
import type { Handler, Traffic } from './traffic.ts'

const RECENT = 30

export const cancelEmail: Handler = async (traffic, { lots }) => {
  const recent = traffic.history.sends
    .slice(-RECENT)
    .flatMap(({ project, ids }) => (project === 'main' ? ids : []))
  if (recent.length === 0) return
  const id = pick(() => lots[0], recent)
  await cancel(traffic, { kind: 'email', id }, { method: 'POST', path: `/emails/${id}/cancel` })
}

export const cancelExecution: Handler = async (traffic, { lots }) => {
  const path = `/workflows/${traffic.workflowId}/executions`
  const listed = await traffic.main.api.ask({ method: 'GET', path: `${path}?status=WAITING` })
  if (listed.outcome !== 'acknowledged') return
  const { executions } = listed.body as { executions: { id: string }[] }
  if (executions.length === 0) return
  const { id } = pick(() => lots[0], executions)
  await cancel(traffic, { kind: 'execution', id }, { method: 'DELETE', path: `${path}/${id}` })
}

/** 400, 404 and 409 say that it has ended meanwhile, and so does another status of an execution. */
async function cancel(
  { history, main }: Traffic,
  what: Pick<CancellationRecord, 'kind' | 'id'>,
  request: { method: string; path: string },
): Promise<void> {
  const record: CancellationRecord = { ...what, outcome: 'unknown' }
  history.cancellations.push(record)
  const { outcome, body } = await main.api.ask({ ...request, expects: [400, 404, 409] })
  const hasEnded = what.kind === 'execution' && Object(body).status !== 'CANCELLED'
  record.outcome = outcome === 'acknowledged' && hasEnded ? 'refused' : outcome
}
