/**
 * The findings in a workflow, by step. A workflow with an error cannot be enabled, because its
 * executions would fail or never start. The graph is known to have a valid structure
 * (`structure.ts`).
 */
import type { MessageFinding } from '../../../../formats/compose/message-findings.ts'
import type { WorkflowCycle } from '../chains/cycles.ts'
import { MAX_CHAIN_DEPTH } from '../limits.ts'
import {
  type CheckedWorkflow,
  findInSteps,
  isNobodysEvent,
  segmentUnknown,
  withoutContact,
} from './step-findings.ts'
import { reachableFrom } from './structure.ts'

/** `stepId`: absent in a finding about the workflow as a whole. */
export type WorkflowFinding = MessageFinding & { stepId?: string }

const SEVERITIES = ['error', 'warning', 'info']

/** Returns the findings: errors first, then in the order of the steps. */
export function findFindings(checked: CheckedWorkflow): WorkflowFinding[] {
  const findings = [
    ...findInTrigger(checked),
    ...findUnreachable(checked),
    ...findInSteps(checked),
    ...findFeedback(checked),
    ...checked.cycles.filter((cycle) => cycle.length > 1).map(feedsEachOther),
  ]
  const rank = ({ severity }: MessageFinding) => SEVERITIES.indexOf(severity)
  return findings.toSorted((one, other) => rank(one) - rank(other))
}

function findInTrigger({
  workflow,
  hasSegment,
  silentEvents,
  steps,
}: CheckedWorkflow): WorkflowFinding[] {
  const findings: WorkflowFinding[] = []
  if (workflow.triggerType === 'SCHEDULE' && !hasSegment) {
    findings.push({
      code: 'segment_missing',
      severity: 'error',
      message: 'The segment of the schedule does not exist.',
      fix: 'Choose another segment in triggerConfig.segmentId.',
    })
  }
  if (isNobodysEvent(workflow.triggerEvent ?? '')) {
    findings.push(withoutContact(`The event ${workflow.triggerEvent}`, 'starts nothing'))
  }
  const silent = silentEvents.get(workflow.triggerEvent ?? '')
  if (silent !== undefined) findings.push(segmentUnknown(silent, 'nothing starts the workflow'))
  if (steps.length === 1) {
    findings.push({
      code: 'no_steps',
      severity: 'info',
      message: 'The workflow has no step but its TRIGGER.',
      fix: 'Add steps with POST /workflows/:id/steps.',
    })
  }
  return findings
}

/** Returns the ids of the steps to which a way leads from the TRIGGER. */
export function reachedSteps({
  steps,
  edges,
}: Pick<CheckedWorkflow, 'steps' | 'edges'>): Set<string> {
  const triggers = steps.filter(({ type }) => type === 'TRIGGER').map(({ id }) => id)
  return reachableFrom(triggers, edges)
}

function findUnreachable(checked: CheckedWorkflow): WorkflowFinding[] {
  const reached = reachedSteps(checked)
  return checked.steps
    .filter(({ id }) => !reached.has(id))
    .map(({ id, name }) => ({
      code: 'unreachable_step',
      severity: 'warning',
      message: `No way leads from the TRIGGER to the step "${name}".`,
      fix: 'Add a transition to the step, or remove it.',
      stepId: id,
    }))
}

/**
 * Finds steps whose events start this same workflow again, and a trigger event that the executions
 * themselves make.
 */
function findFeedback({ workflow, steps, cycles }: CheckedWorkflow): WorkflowFinding[] {
  const event = workflow.triggerEvent ?? ''
  if (event.startsWith('segment.') && cycles.some((cycle) => cycle.length === 1)) {
    const cause = 'its steps change what the condition of that segment asks for'
    return [feedsItself(cause, steps.find(({ type }) => type === 'TRIGGER')?.id)]
  }
  if (event === 'workflow.started' || event === 'workflow.completed') {
    const cause = 'each of its own executions records that event'
    return [feedsItself(cause, steps.find(({ type }) => type === 'TRIGGER')?.id)]
  }
  return steps.flatMap((step) => {
    if (step.type === 'SEND_EMAIL' && event.startsWith('email.') && event !== 'email.received') {
      return [feedsItself(`the mail of the step "${step.name}" has that event`, step.id)]
    }
    if (step.type !== 'UPDATE_CONTACT') return []
    const action = step.config.subscriptionAction ?? 'none'
    if (event !== `contact.${action}d`) return []
    return [feedsItself(`the step "${step.name}" records that event`, step.id)]
  })
}

/**
 * The finding for a cycle, which names the workflows in the order in which they start each other.
 */
function feedsEachOther(cycle: WorkflowCycle): WorkflowFinding {
  const links = cycle.map(({ name, event }, index) => {
    const next = cycle[(index + 1) % cycle.length]?.name ?? ''
    return `"${name}" leads to ${event}, which starts "${next}"`
  })
  return {
    code: 'feeds_each_other',
    severity: 'warning',
    message: `Workflows may start each other: ${links.join('; ')}.`,
    fix: `Choose another event, or leave allowReentry off in one of them. A chain ends after ${MAX_CHAIN_DEPTH} starts behind the first.`,
  }
}

function feedsItself(cause: string, stepId: string | undefined): WorkflowFinding {
  return {
    code: 'feeds_itself',
    severity: 'warning',
    message: `The workflow may start itself: ${cause}.`,
    fix: 'Choose another event, or leave allowReentry off.',
    ...(stepId === undefined ? {} : { stepId }),
  }
}
