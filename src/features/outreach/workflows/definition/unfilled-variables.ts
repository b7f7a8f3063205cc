/**
 * Finds variables that the steps of a workflow print and that nothing fills: no contact has such
 * data, no step sets it, and the recent events that lead to the step do not have it. A MANUAL
 * workflow is not checked, because requests may start it with any names.
 *
 * A name with a fallback or in a tag may lack a value on purpose, so it is reported only if it
 * seems to be a slip.
 *
 * A name is reported once, at the first step that prints it. The steps of a workflow may print
 * hundreds of thousands of names, so only the first ones without a value are compared with the keys
 * that exist.
 */
import { setImmediate } from 'node:timers/promises'
import { newEffort } from '../../../../config/layers/closest.ts'
import { CONTACT } from '../../../../formats/template/variables.ts'
import { eq } from '../../../../store/drizzle.ts'
import { templates } from '../../../../store/schema/messages.ts'
import type { Workflow } from '../../../../store/schema/workflows.ts'
import type { Base } from '../../../ground/base.ts'
import { listDataKeys } from '../../../ground/conditions/data-keys.ts'
import { storedEventName } from '../../../ground/conditions/field.ts'
import { isKey, withoutFilled } from '../../../mail/templates/filled-keys.ts'
import { type NamedVariables, nameVariables } from '../../../mail/templates/named-variables.ts'
import { suggestForSlip, suggestVariable } from '../../../mail/templates/suggest-variable.ts'
import type { WorkflowFinding } from '../graph/findings.ts'
import type { TypedStep } from '../graph/step-config.ts'
import { templatesOf } from '../graph/step-templates.ts'
import { listEventKeys } from './event-fields.sqlite.ts'
import { EMAIL_KEYS } from './fields.ts'
import { loadDefinition } from './find.ts'

type Deps = Pick<Base, 'store'>

/** A variable in a step. `isGuarded`: the variable has a fallback, or stands in a tag. */
type Named = { step: TypedStep; name: string; isGuarded: boolean }

/** At most this many templates are read, because each may have megabytes. */
const MAX_TEMPLATES = 20
/** At most this many names without a value are compared with existing keys. */
const MAX_UNFILLED = 20
const MAX_GUARDED = 100
/** The data of at most this many events is read. */
const MAX_EVENTS = 20
/** Names that are always filled, beside those of contacts. */
const OWN_NAMES: readonly string[] = ['event']

export async function findUnfilled(deps: Deps, workflow: Workflow): Promise<WorkflowFinding[]> {
  if (workflow.triggerType === 'MANUAL') return []
  const { projectId } = workflow
  const steps = (await loadDefinition(deps.store.read, workflow.id)).steps as TypedStep[]
  const ofSteps = steps.flatMap((step) =>
    step.type === 'UPDATE_CONTACT' ? Object.keys(step.config.updates ?? {}) : [],
  )
  const events = await listOfEvents(deps, workflow, steps)
  const filled = new Set([...OWN_NAMES, ...ofSteps, ...events.keys])
  const unfilled = await listUnfilled(deps, { projectId, steps, filled })
  if (unfilled.length === 0) return []
  const keys = [...filled, ...(await listDataKeys(deps.store.read, projectId))]
  const effort = newEffort()
  const findings: WorkflowFinding[] = []
  for (const { step, name, isGuarded } of unfilled) {
    const hint = (isGuarded ? suggestForSlip : suggestVariable)(name, keys, effort)
    if (isGuarded && hint !== undefined) findings.push(toSlip(step, { name, hint }))
    // An event that has not occurred yet may bring any name.
    if (!isGuarded && (hint !== undefined || events.areKnown))
      findings.push(toFinding(step, { name, hint }))
    await setImmediate()
  }
  return findings
}

/**
 * Lists the first names that neither `filled` nor the data of any contact has, each once: printed
 * names first, then guarded ones.
 */
async function listUnfilled(
  { store }: Deps,
  {
    projectId,
    steps,
    filled,
  }: { projectId: string; steps: TypedStep[]; filled: ReadonlySet<string> },
): Promise<Named[]> {
  const unfilled: Named[] = []
  const guarded: Named[] = []
  const seen = new Set(filled)
  const seenGuarded = new Set<string>()
  const hasContact = filled.has(CONTACT) || (await isKey(store.read, projectId, CONTACT))
  for await (const { step, names } of walkNamed(store, { steps, hasContact })) {
    const fresh = [...new Set(names.printed)].filter((name) => !seen.has(name))
    for (const name of fresh) seen.add(name)
    for await (const name of withoutFilled(store.read, projectId, fresh)) {
      unfilled.push({ step, name, isGuarded: false })
      if (unfilled.length === MAX_UNFILLED) return unfilled
    }
    if (guarded.length === MAX_GUARDED) continue
    const others = names.guarded.filter((name) => !seen.has(name) && !seenGuarded.has(name))
    for (const name of others) seenGuarded.add(name)
    for await (const name of withoutFilled(store.read, projectId, others)) {
      guarded.push({ step, name, isGuarded: true })
      if (guarded.length === MAX_GUARDED) break
    }
  }
  // A later step may print a name without a guard: then the name counts as printed, not as guarded.
  return [...unfilled, ...guarded.filter(({ name }) => !seen.has(name))]
}

/** Yields the names in each text; a template is read once. Other work may run between two texts. */
async function* walkNamed(
  store: Deps['store'],
  { steps, ...rule }: { steps: readonly TypedStep[]; hasContact: boolean },
): AsyncGenerator<{ step: TypedStep; names: NamedVariables }> {
  const read = new Set<string>()
  for (const step of steps) {
    const texts = [...templatesOf(step, '')].map(([, text]) => text)
    if (texts.length > 0) {
      yield { step, names: nameVariables(texts, rule) }
      await setImmediate()
    }
    const { templateId } = step
    if (templateId === null || read.has(templateId) || read.size === MAX_TEMPLATES) continue
    read.add(templateId)
    yield { step, names: await nameInTemplate(store, templateId, rule) }
    await setImmediate()
  }
}

async function nameInTemplate(
  store: Deps['store'],
  id: string,
  rule: { hasContact: boolean },
): Promise<NamedVariables> {
  const { subject, body } = templates
  const query = store.read.select({ subject, body }).from(templates).where(eq(templates.id, id))
  const found = await query.get()
  return nameVariables(found === undefined ? [] : [found.subject, found.body], rule)
}

/**
 * Returns the keys in the data of the events that start the workflow or end its waits. `areKnown`:
 * each of these events has occurred.
 */
async function listOfEvents(
  { store }: Deps,
  { projectId, triggerEvent }: Workflow,
  steps: readonly TypedStep[],
): Promise<{ keys: string[]; areKnown: boolean }> {
  const waited = steps.flatMap((step) =>
    step.type === 'WAIT_FOR_EVENT' ? storedEventName(step.config.eventName) : [],
  )
  const names = [...new Set([...(triggerEvent === null ? [] : [triggerEvent]), ...waited])]
  const keys = new Set<string>()
  let areKnown = names.length <= MAX_EVENTS
  for (const name of names.slice(0, MAX_EVENTS)) {
    const rows = await store.scan.list(listEventKeys, { projectId, name })
    for (const { key } of rows) keys.add(key)
    if (name.startsWith('email.')) for (const key of EMAIL_KEYS) keys.add(key)
    else if (rows.length === 0) areKnown = false
  }
  return { keys: [...keys], areKnown }
}

function toFinding(step: TypedStep, { name, hint }: { name: string; hint: string | undefined }) {
  return {
    code: 'unfilled_variable',
    severity: 'warning' as const,
    message: `The step "${step.name}" prints {{${name}}}, for which no contact and no event has a value.`,
    fix: `${hint === undefined ? '' : `${hint} `}Correct the name, or give the variable a fallback: {{${name} ?? …}}.`,
    stepId: step.id,
  }
}

function toSlip(step: TypedStep, { name, hint }: { name: string; hint: string }) {
  return {
    code: 'unfilled_variable',
    severity: 'info' as const,
    message: `The step "${step.name}" names {{${name}}}, for which no contact and no event has a value.`,
    fix: `${hint} Correct the name, if it is a slip.`,
    stepId: step.id,
  }
}
