/** Findings in single steps of a workflow, and the checked workflow as all findings see it. */
import { displayDomain } from '../../../mail/address/address.ts'
import type { Finding } from '../../../mail/compose/message-findings.ts'
import type { Workflow } from '../../../store/schema/workflows.ts'
import { RESERVED_KEYS } from '../../contacts/write/data.ts'
import type { Cycle } from '../chains/cycles.ts'
import { branchesOf, isKnownField, isNumericOperator } from './condition-config.ts'
import type { Step, StepOf } from './step-config.ts'
import { type Edge, reachableFrom } from './structure.ts'

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
  /** The cycles of workflows that start each other, through this one. */
  cycles: readonly Cycle[]
}

/** Events of the service without a contact. */
const NOBODYS_EVENTS =
  /^(?:campaign\.(?:scheduled|sent|paused|resumed|cancelled)|webhook\.disabled)$/

export function findInStep(checked: CheckedWorkflow, step: Step): Finding[] {
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
      message: `The step "${name}" asks for "${config.field}", which does not exist, so no answer fits.`,
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
  if (isNobodysEvent(config.eventName)) {
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

/** Whether events of this name have no contact. */
export function isNobodysEvent(name: string): boolean {
  return NOBODYS_EVENTS.test(name)
}

export function withoutContact(what: string, effect: string): Finding {
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
