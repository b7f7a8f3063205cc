/** Findings in single steps of a workflow, and the checked workflow as all findings see it. */
import { displayDomain } from '../../../../formats/address/address.ts'
import type { MessageFinding } from '../../../../formats/compose/message-findings.ts'
import type { Workflow } from '../../../../store/schema/workflows.ts'
import { RESERVED_KEYS } from '../../../people/contacts/write/data.ts'
import type { SilentEvent } from '../../../people/segments/membership-events.ts'
import type { WorkflowCycle } from '../chains/cycles.ts'
import { branchesOf, isKnownField, isNumericOperator, whyNeverTrue } from './condition-config.ts'
import type { StepOf, TypedStep } from './step-config.ts'
import type { Edge } from './structure.ts'

/** The workflow with the objects that it refers to, as far as they exist. */
export type CheckedWorkflow = {
  workflow: Pick<Workflow, 'triggerType' | 'triggerEvent'>
  steps: readonly TypedStep[]
  edges: readonly Edge[]
  templates: ReadonlyMap<string, { fromDomain: string }>
  campaigns: ReadonlySet<string>
  /** The verified domains of the project, in A-labels. */
  verifiedDomains: ReadonlySet<string>
  /** The names of events of segments that do not occur. */
  silentEvents: ReadonlyMap<string, SilentEvent>
  /** Whether the segment of a SCHEDULE exists. */
  hasSegment: boolean
  /** The cycles of workflows that start each other and that contain this workflow. */
  cycles: readonly WorkflowCycle[]
}

/** The checked workflow with maps that are made once for all steps. */
type Checked = CheckedWorkflow & {
  leaving: ReadonlyMap<string, readonly Edge[]>
  emails: Emails
}

/**
 * `bits`: a bit for each SEND_EMAIL step, by its id. `before`: the bits of every SEND_EMAIL that
 * lies on some way to the step.
 */
type Emails = { bits: ReadonlyMap<string, bigint>; before: (id: string) => bigint }

/** The names of events of the service that have no contact. */
const NOBODYS_EVENTS =
  /^(?:campaign\.(?:scheduled|sent|paused|resumed|cancelled)|webhook\.disabled)$/

/** At most this many emails that may be meant are listed in a finding. */
const MAX_LISTED = 10

/** Yields findings in the order of the steps. `isAsked`: whether a step is checked. */
export function* findInSteps(
  workflow: CheckedWorkflow,
  isAsked: (step: TypedStep) => boolean = () => true,
): Generator<MessageFinding & { stepId: string }> {
  const checked = {
    ...workflow,
    leaving: Map.groupBy(workflow.edges, ({ fromStepId }) => fromStepId),
    emails: emailsOf(workflow),
  }
  for (const step of workflow.steps) {
    if (!isAsked(step)) continue
    for (const finding of findInStep(checked, step)) yield { ...finding, stepId: step.id }
  }
}

function findInStep(checked: Checked, step: TypedStep): MessageFinding[] {
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
): MessageFinding[] {
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

function findInCondition(checked: Checked, step: StepOf<'CONDITION'>): MessageFinding[] {
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
  if (config.campaignId !== undefined && !checked.campaigns.has(config.campaignId)) {
    findings.push({
      code: 'campaign_missing',
      severity: 'warning',
      message: `The campaign that the step "${name}" asks for does not exist.`,
      fix: 'Name another campaign in campaignId, or remove it.',
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
  const misfit = comparisons.flatMap((test) => whyNeverTrue(config.field, test) ?? [])[0]
  if (misfit !== undefined) {
    findings.push({
      code: 'value_of_other_type',
      severity: 'warning',
      message: `The step "${name}" asks for ${config.field}, which ${misfit.is}; the comparison is never true.`,
      fix: misfit.fix,
    })
  }
  const leaving = checked.leaving.get(step.id) ?? []
  const taken = new Set(leaving.map(({ condition }) => condition?.branch))
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

function findInWait(checked: Checked, step: StepOf<'WAIT_FOR_EVENT'>): MessageFinding[] {
  const { name, config } = step
  const findings = findInReference(checked, step, config.stepId)
  if (isNobodysEvent(config.eventName)) {
    findings.push(withoutContact(`The event ${config.eventName}`, `never ends the wait "${name}"`))
  }
  const silent = checked.silentEvents.get(config.eventName)
  if (silent !== undefined) findings.push(segmentUnknown(silent, `the wait "${name}" never ends`))
  if (config.timeout === undefined) {
    findings.push({
      code: 'wait_without_timeout',
      severity: 'info',
      message: `The step "${name}" waits for ever if the event does not happen.`,
      fix: 'Set a timeout in seconds.',
    })
    return findings
  }
  const leaving = checked.leaving.get(step.id) ?? []
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

/**
 * Finds a `stepId` that names no SEND_EMAIL before the step: the email of a SEND_EMAIL exists only
 * after it.
 */
function findInReference(
  { steps, emails: { bits, before } }: Checked,
  { id, name }: TypedStep,
  stepId: string | undefined,
): MessageFinding[] {
  if (stepId === undefined) return []
  const all = before(id)
  const leadsHere = (emailId: string) => ((bits.get(emailId) ?? 0n) & all) !== 0n
  if (leadsHere(stepId)) return []
  const meant = all === 0n ? [] : steps.filter((step) => leadsHere(step.id)).slice(0, MAX_LISTED)
  const listed = meant.map((email) => `${email.id} ("${email.name}")`).join(', ')
  return [
    {
      code: 'unknown_email_step',
      severity: 'error',
      message: `The stepId of the step "${name}" names no SEND_EMAIL before it.`,
      fix: `Name a SEND_EMAIL that leads to the step${listed === '' ? '' : `, such as ${listed}`}, or remove stepId.`,
    },
  ]
}

/**
 * Finds which emails come before each step. The graph has no loops, and each transition is looked
 * at once, however many steps name an email.
 */
function emailsOf({ steps, edges }: CheckedWorkflow): Emails {
  const emails = steps.filter(({ type }) => type === 'SEND_EMAIL')
  const bits = new Map(emails.map(({ id }, index) => [id, 1n << BigInt(index)]))
  const arriving = Map.groupBy(edges, ({ toStepId }) => toStepId)
  const known = new Map<string, bigint>()
  const before = (id: string): bigint => {
    let all = known.get(id)
    if (all !== undefined) return all
    all = 0n
    for (const { fromStepId } of arriving.get(id) ?? []) {
      all |= before(fromStepId) | (bits.get(fromStepId) ?? 0n)
    }
    known.set(id, all)
    return all
  }
  return { bits, before }
}

function findInUpdate({ name, config }: StepOf<'UPDATE_CONTACT'>): MessageFinding[] {
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

export function withoutContact(what: string, effect: string): MessageFinding {
  return {
    code: 'event_without_contact',
    severity: 'warning',
    message: `${what} belongs to no contact, so it ${effect}.`,
    fix: 'Choose an event of contacts.',
  }
}

export function segmentUnknown({ why, fix }: SilentEvent, effect: string): MessageFinding {
  return {
    code: 'segment_unknown',
    severity: 'warning',
    message: `${why} So ${effect}.`,
    fix,
  }
}

/** Whether the operators can convert the value to a number. */
function isNumeric(value: unknown): boolean {
  return (
    typeof value === 'boolean' || (value !== null && value !== '' && !Number.isNaN(Number(value)))
  )
}
