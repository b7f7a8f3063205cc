/**
 * Findings in a workflow, by step. An error keeps the workflow from being enabled: its executions would
 * fail or never start. The structure of the graph (`structure.ts`) holds already.
 */
import { displayDomain } from '../../../mail/address/address.ts'
import type { Finding } from '../../../mail/compose/message-findings.ts'
import type { Workflow } from '../../../store/schema/workflows.ts'
import { RESERVED_KEYS } from '../../contacts/write/data.ts'
import { branchesOf, isKnownField, isNumericOperator } from './condition-config.ts'
import type { Step, StepOf } from './step-config.ts'
import { type Edge, reachableFrom } from './structure.ts'

/** `stepId`: absent for the workflow as a whole. */
export type WorkflowFinding = Finding & { stepId?: string }

/** The workflow with what it refers to, as far as that exists. */
export type CheckedWorkflow = {
  workflow: Pick<Workflow, 'triggerType' | 'triggerEvent'>
  steps: readonly Step[]
  edges: readonly Edge[]
  templates: ReadonlyMap<string, { fromDomain: string }>
  /** In A-labels. */
  verifiedDomains: ReadonlySet<string>
  /** Whether the segment of a SCHEDULE exists. */
  hasSegment: boolean
}

const SEVERITIES = ['error', 'warning', 'info']

/** Events of the service without a contact. */
const NOBODYS_EVENTS =
  /^(?:campaign\.(?:scheduled|sent|paused|resumed|cancelled)|webhook\.disabled)$/

/** Errors first, then by the order of the steps. */
export function findFindings(checked: CheckedWorkflow): WorkflowFinding[] {
  const findings = [
    ...findInTrigger(checked),
    ...findUnreachable(checked),
    ...checked.steps.flatMap((step) =>
      findInStep(checked, step).map((finding) => ({ ...finding, stepId: step.id })),
    ),
    ...findFeedback(checked),
  ]
  const rank = ({ severity }: Finding) => SEVERITIES.indexOf(severity)
  return findings.toSorted((one, other) => rank(one) - rank(other))
}

function findInTrigger({ workflow, hasSegment, steps }: CheckedWorkflow): WorkflowFinding[] {
  const findings: WorkflowFinding[] = []
  if (workflow.triggerType === 'SCHEDULE' && !hasSegment) {
    findings.push({
      code: 'segment_missing',
      severity: 'error',
      message: 'The segment of the schedule does not exist.',
      fix: 'Choose another segment in triggerConfig.segmentId.',
    })
  }
  if (NOBODYS_EVENTS.test(workflow.triggerEvent ?? '')) {
    findings.push(withoutContact(`The event ${workflow.triggerEvent}`, 'starts nothing'))
  }
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

function findUnreachable({ steps, edges }: CheckedWorkflow): WorkflowFinding[] {
  const triggers = steps.filter(({ type }) => type === 'TRIGGER').map(({ id }) => id)
  const reached = reachableFrom(triggers, edges)
  return steps
    .filter(({ id }) => !reached.has(id))
    .map(({ id, name }) => ({
      code: 'unreachable_step',
      severity: 'warning',
      message: `No way leads from the TRIGGER to the step "${name}".`,
      fix: 'Add a transition to the step, or remove it.',
      stepId: id,
    }))
}

function findInStep(checked: CheckedWorkflow, step: Step): Finding[] {
  switch (step.type) {
    case 'SEND_EMAIL':
      return findInEmail(checked, step)
    case 'CONDITION':
      return findInCondition(checked, step)
    case 'WAIT_FOR_EVENT':
      return findInWait(checked, step)
    case 'UPDATE_CONTACT':
      return findInUpdate(step)
    default:
      return []
  }
}

function findInEmail(
  { templates, verifiedDomains }: CheckedWorkflow,
  { name, templateId }: StepOf<'SEND_EMAIL'>,
): Finding[] {
  const template = templateId === null ? undefined : templates.get(templateId)
  if (template === undefined) {
    const isMissing = templateId !== null
    return [
      {
        code: isMissing ? 'template_missing' : 'no_template',
        severity: 'error',
        message: isMissing
          ? `The template of the step "${name}" does not exist.`
          : `The step "${name}" has no template.`,
        fix: "Set the step's templateId to a template of this project.",
      },
    ]
  }
  if (verifiedDomains.has(template.fromDomain)) return []
  const domain = displayDomain(template.fromDomain)
  return [
    {
      code: 'sender_unverified',
      severity: 'warning',
      message: `The step "${name}" sends from ${domain}, which is not verified.`,
      fix: 'Publish the DNS records of the domain and verify it, or choose another template.',
    },
  ]
}

function findInCondition(checked: CheckedWorkflow, step: StepOf<'CONDITION'>): Finding[] {
  const { name, config } = step
  const findings = findInReference(checked, step, config.stepId)
  if (!isKnownField(config.field)) {
    findings.push({
      code: 'unknown_field',
      severity: 'warning',
      message: `The step "${name}" asks for "${config.field}", which never has a value.`,
      fix: 'Use contact.email, contact.subscribed, data.…, event.…, workflow.… or email.<activity>.',
    })
  }
  const comparisons = config.mode === 'multi' ? config.branches : [config]
  if (comparisons.some(({ operator, value }) => isNumericOperator(operator) && !isNumeric(value))) {
    findings.push({
      code: 'value_not_numeric',
      severity: 'warning',
      message: `The step "${name}" compares numbers with a value that is none, so it is never true.`,
      fix: 'Give a number, or use equals or contains.',
    })
  }
  const taken = new Set(
    checked.edges
      .filter(({ fromStepId }) => fromStepId === step.id)
      .map(({ condition }) => condition?.branch),
  )
  for (const branch of branchesOf(config).filter((each) => !taken.has(each))) {
    findings.push({
      code: 'branch_without_transition',
      severity: 'info',
      message: `The branch "${branch}" of the step "${name}" leads nowhere; executions end there.`,
      fix: 'Add a transition for the branch if executions are to go on.',
    })
  }
  return findings
}

function findInWait(checked: CheckedWorkflow, step: StepOf<'WAIT_FOR_EVENT'>): Finding[] {
  const { name, config } = step
  const findings = findInReference(checked, step, config.stepId)
  if (NOBODYS_EVENTS.test(config.eventName)) {
    findings.push(withoutContact(`The event ${config.eventName}`, `never ends the wait "${name}"`))
  }
  if (config.timeout === undefined) {
    findings.push({
      code: 'wait_without_timeout',
      severity: 'info',
      message: `The step "${name}" waits for ever if the event does not happen.`,
      fix: 'Set a timeout in seconds.',
    })
    return findings
  }
  const leaving = checked.edges.filter(({ fromStepId }) => fromStepId === step.id)
  const servesTimeout = leaving.some(({ waitOutcome }) => waitOutcome !== 'EVENT')
  if (!servesTimeout) {
    findings.push({
      code: 'timeout_without_transition',
      severity: 'info',
      message: `After the timeout of the step "${name}", executions end.`,
      fix: 'Add a transition for the outcome TIMEOUT if they are to go on.',
    })
  }
  return findings
}

/** The email of a step exists only after that step. */
function findInReference(
  { steps, edges }: CheckedWorkflow,
  { id, name }: Step,
  stepId: string | undefined,
): Finding[] {
  if (stepId === undefined) return []
  const isEmail = steps.some((step) => step.id === stepId && step.type === 'SEND_EMAIL')
  if (isEmail && reachableFrom([stepId], edges).has(id)) return []
  return [
    {
      code: 'unknown_email_step',
      severity: 'error',
      message: `The stepId of the step "${name}" names no SEND_EMAIL before it.`,
      fix: 'Name a SEND_EMAIL that leads to the step, or remove stepId.',
    },
  ]
}

function findInUpdate({ name, config }: StepOf<'UPDATE_CONTACT'>): Finding[] {
  const reserved = Object.keys(config.updates ?? {}).filter((key) => RESERVED_KEYS.has(key))
  if (reserved.length === 0) return []
  return [
    {
      code: 'reserved_key',
      severity: 'warning',
      message: `The step "${name}" does not set ${reserved.join(', ')}: contacts have no such data.`,
      fix: 'Use other names.',
    },
  ]
}

/** Steps whose own events start the workflow again. */
function findFeedback({ workflow, steps }: CheckedWorkflow): WorkflowFinding[] {
  const event = workflow.triggerEvent ?? ''
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

function feedsItself(cause: string, stepId: string | undefined): WorkflowFinding {
  return {
    code: 'feeds_itself',
    severity: 'warning',
    message: `The workflow may start itself: ${cause}.`,
    fix: 'Choose another event, or leave allowReentry off.',
    ...(stepId === undefined ? {} : { stepId }),
  }
}

function withoutContact(what: string, effect: string): Finding {
  return {
    code: 'event_without_contact',
    severity: 'warning',
    message: `${what} belongs to no contact, so it ${effect}.`,
    fix: 'Choose an event of contacts.',
  }
}

/** As the operators convert values. */
function isNumeric(value: unknown): boolean {
  return (
    typeof value === 'boolean' || (value !== null && value !== '' && !Number.isNaN(Number(value)))
  )
}
