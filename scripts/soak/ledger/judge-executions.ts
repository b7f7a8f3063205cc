/**
 * Executions of the workflow: one for each event that starts it, with an end, and each effect of a
 * completed step exactly once: the email, the request, the change of the contact.
 */
import type { History } from '../history/history.ts'
import type { Finding, LedgerRow } from './finding.ts'
import { judgeRepetitions, STEP_PATH } from './judge-webhooks.ts'
import type { ContactRow, EmailRow, EventRow, ExecutionRow, StepRow } from './rows.ts'

type ExecutionHistory = Pick<History, 'events' | 'cancellations' | 'hooks' | 'disruptions'>
type Stored = {
  executions: readonly ExecutionRow[]
  steps: readonly StepRow[]
  emails: readonly EmailRow[]
  events: readonly EventRow[]
  contacts: readonly ContactRow[]
}

const ENDS: ReadonlySet<string> = new Set(['COMPLETED', 'EXITED', 'CANCELLED'])

export function judgeExecutions(history: ExecutionHistory, stored: Stored): LedgerRow[] {
  const starts = history.events.filter(({ startsWorkflow }) => startsWorkflow)
  const byEmail = Map.groupBy(stored.executions, ({ email }) => email)
  const storedNumbers = new Set(stored.events.map(({ number }) => number))
  const started = starts.filter(({ number }) => storedNumbers.has(number))
  const asked = new Set(starts.map(({ email }) => email))
  const steps = stored.steps.filter(({ status }) => status === 'COMPLETED')
  return [
    {
      name: 'executions of the workflow',
      count: stored.executions.length,
      findings: [
        ...started.flatMap(({ email }) => judgeStart(email, byEmail.get(email) ?? [])),
        ...stored.executions
          .filter(({ email }) => !asked.has(email))
          .map(({ id, email }) => ({ id, text: `${email} did nothing that starts it` })),
        ...judgeEnds(history, stored.executions),
      ],
    },
    {
      name: 'effects of steps',
      count: steps.length,
      findings: [
        ...judgeEmails(steps, stored.emails),
        ...judgeRequests(history, stored.steps),
        ...judgeUpdates(steps, stored.contacts),
      ],
    },
  ]
}

function judgeStart(email: string, executions: readonly ExecutionRow[]): Finding[] {
  if (executions.length === 1) return []
  return [{ id: email, text: `its event started ${executions.length} executions` }]
}

function judgeEnds(
  { cancellations }: ExecutionHistory,
  executions: readonly ExecutionRow[],
): Finding[] {
  const asked = new Map(
    cancellations.filter(({ kind }) => kind === 'execution').map((each) => [each.id, each.outcome]),
  )
  return executions.flatMap(({ id, status, exitReason }) => {
    if (!ENDS.has(status)) return [{ id, text: `it is ${status} (${exitReason})` }]
    if (status === 'CANCELLED') return asked.has(id) ? [] : [{ id, text: 'nobody cancelled it' }]
    return asked.get(id) === 'acknowledged'
      ? [{ id, text: `its cancellation was acknowledged, and it is ${status}` }]
      : []
  })
}

function judgeEmails(steps: readonly StepRow[], emails: readonly EmailRow[]): Finding[] {
  const sent = emails.filter(({ executionId }) => executionId !== null)
  const byStep = Map.groupBy(sent, ({ stepExecutionId }) => stepExecutionId)
  const senders = steps.filter(({ type }) => type === 'SEND_EMAIL')
  const known = new Set(senders.map(({ id }) => id))
  return [
    ...senders.flatMap(({ id, executionId }) => {
      const count = byStep.get(id)?.length ?? 0
      return count === 1 ? [] : [{ id: executionId, text: `its step made ${count} emails` }]
    }),
    ...sent
      .filter(({ stepExecutionId }) => !known.has(stepExecutionId ?? ''))
      .map(({ id }) => ({ id, text: 'no completed step sent it' })),
  ]
}

/** A step that was cancelled, or that failed, may have made its request, too. */
function judgeRequests(history: ExecutionHistory, steps: readonly StepRow[]): Finding[] {
  const requests = history.hooks.filter(({ path }) => path === STEP_PATH)
  const byStep = Map.groupBy(requests, ({ id }) => id)
  const callers = steps.filter(({ type }) => type === 'WEBHOOK')
  const emailOf = new Map(callers.map(({ id, email }) => [id, email]))
  return [
    ...callers.flatMap(({ id, executionId, status }) => {
      const isTaken = byStep.get(id)?.some((request) => request.status === 200)
      if (status !== 'COMPLETED' || isTaken) return []
      return [{ id: executionId, text: 'its request reached nobody' }]
    }),
    ...requests
      .filter(({ id, email }) => emailOf.get(id) !== email)
      .map(({ id, email }) => ({ id, text: `no step of ${email} made this request` })),
    ...[...byStep.values()].flatMap((each) => judgeRepetitions(history, each)),
  ]
}

function judgeUpdates(steps: readonly StepRow[], contacts: readonly ContactRow[]): Finding[] {
  const byEmail = new Map(contacts.map((contact) => [contact.email, contact]))
  return steps
    .filter(({ type }) => type === 'UPDATE_CONTACT')
    .filter(({ email }) => byEmail.get(email)?.data.stage !== 'welcomed')
    .map(({ executionId, email }) => ({ id: executionId, text: `${email} was not updated` }))
}
