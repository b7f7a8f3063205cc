/**
 * Edits of a workflow: each is one transaction, checks the version that the caller knows, and makes a
 * new version. The engine keeps graphs by their version.
 *
 * `updateWorkflow` changes the workflow itself: its name, its trigger, whether it is enabled. Other files
 * change its graph.
 */
import { isDeepStrictEqual } from 'node:util'

import { AppError } from '../../../../base/errors.ts'
import type { WorkflowDetail } from '../../../../records/workflow.ts'
import { and, desc, eq } from '../../../../store/drizzle.ts'
import { events } from '../../../../store/schema/events.ts'
import { type Workflow, workflowSteps, workflows } from '../../../../store/schema/workflows.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { loadSegment } from '../../../people/segments/segments.ts'
import type { ReportUnknown } from '../graph/parse-config.ts'
import type { TriggerConfig } from '../graph/step-config.ts'
import { MAX_WORKFLOWS_PER_EVENT } from '../limits.ts'
import type { WorkflowNotifier } from '../notifier.ts'
import { loadWorkflow, type WorkflowKey } from '../workflow.ts'
import { refuseActive } from './active.ts'
import { triggerStepName } from './create.ts'
import { CrowdedSteps, cancelAtSteps } from './delete-steps.ts'
import { loadDefinition } from './find.ts'
import {
  changeTrigger,
  type GivenTrigger,
  nextFiringOf,
  startsAlike,
  type Trigger,
  triggerStepConfig,
} from './trigger.ts'
import { findWorkflowFindings } from './validate.ts'
import { loadDetail, type Viewer } from './view.ts'

export type GraphEdit = WorkflowKey &
  Viewer & {
    /**
     * Whether the caller's change is meant for this version. Without this function, the last change
     * wins.
     */
    isExpected?: ((version: number) => boolean) | undefined
    /** Called with names in configs that nothing reads, before anything is written. */
    report?: ReportUnknown | undefined
  }

export type EditDeps = Pick<Base, 'store' | 'now'>

/**
 * Runs `change` in a transaction, which calls `saveVersion` if it changes something.
 * @throws AppError WORKFLOW_NOT_FOUND; CONFLICT with status 412 and the record in `details.current`
 *   for another version; errors of `change`. `details.cancelledExecutions`: how many executions
 *   were cancelled for the edit before it was refused
 */
export async function editWorkflow<T>(
  deps: EditDeps,
  edit: GraphEdit,
  change: (tx: Tx, workflow: Workflow) => Promise<T>,
): Promise<T> {
  const { isExpected = () => true, ...key } = edit
  const write = () =>
    deps.store.write(
      async (tx) => {
        const workflow = await loadWorkflow(tx, key)
        if (!isExpected(workflow.version)) throw otherVersion(await loadDetail(tx, workflow, edit))
        return change(tx, workflow)
      },
      { heavyFor: key.projectId },
    )
  for (let cancelled = 0; ; ) {
    try {
      return await write()
    } catch (error) {
      if (!(error instanceof CrowdedSteps)) throw withCancelled(error, cancelled)
      cancelled += await cancelAtSteps(deps, key, error)
    }
  }
}

/** Adds to the error of a refused edit how many executions were cancelled for the edit before. */
function withCancelled(error: unknown, cancelled: number): unknown {
  if (cancelled === 0 || !(error instanceof AppError)) return error
  const { code, message, status, suggestion, fields, details } = error
  const text = `${message} ${cancelled} executions at the steps to remove were cancelled before.`
  return new AppError(code, text, {
    ...{ status, cause: error, details: { ...details, cancelledExecutions: cancelled } },
    ...(suggestion === undefined ? {} : { suggestion }),
    ...(fields === undefined ? {} : { fields }),
  })
}

/** Writes these columns of a workflow as a new version, and returns the workflow. */
export async function saveVersion(
  tx: Tx,
  workflow: Workflow,
  { at, ...columns }: Partial<Workflow> & { at: number },
): Promise<Workflow> {
  return tx
    .update(workflows)
    .set({ ...columns, version: workflow.version + 1, updatedAt: at })
    .where(eq(workflows.id, workflow.id))
    .returning()
    .get()
}

/**
 * The error for a workflow of another version. Its status is 412, because the caller has named the
 * version that it knows (RFC 9110 section 13.1.1).
 */
function otherVersion(current: WorkflowDetail): AppError {
  return new AppError('CONFLICT', 'The workflow was changed meanwhile; nothing was saved.', {
    status: 412,
    details: { current },
    suggestion: 'Apply the change to the current version, or send it without If-Match.',
  })
}

/** The fields of a workflow that a request changes; an undefined field stays as it is. */
type WorkflowChanges = GivenTrigger & {
  name?: string | undefined
  description?: string | null | undefined
  enabled?: boolean | undefined
  allowReentry?: boolean | undefined
}

/**
 * Changes the fields that are present. A workflow that is enabled by this change is started by
 * later events only.
 * @throws AppError WORKFLOW_NOT_FOUND; VALIDATION_ERROR; RESOURCE_NOT_FOUND (segment); CONFLICT
 *   while active executions forbid another trigger, and with status 412 for another version;
 *   BAD_REQUEST with `details.findings` when a workflow with errors is enabled
 */
export async function updateWorkflow(
  deps: EditDeps & { workflowNotifier: WorkflowNotifier },
  { changes, ...edit }: GraphEdit & { changes: WorkflowChanges },
): Promise<WorkflowDetail> {
  const prepare = (before: Trigger) =>
    prepareTrigger(before, changes, { now: deps.now(), report: edit.report })
  const prepared = prepare(triggerOf(await loadWorkflow(deps.store.read, edit)))
  return editWorkflow(deps, edit, async (tx, current) => {
    const at = deps.now()
    const before = triggerOf(current)
    const isPrepared = isDeepStrictEqual(before, prepared.before)
    const { trigger, firesAt } = isPrepared ? prepared : prepare(before)
    const isOther = !startsAlike(trigger, before)
    if (isOther) await requireTrigger(tx, current, trigger)
    const columns = definedColumns(changes)
    const { isEnabled } = { ...current, ...columns }
    const isBegun = isEnabled && (!current.isEnabled || isOther)
    const keptFireAt = isEnabled ? current.nextFireAt : null
    const next: Partial<Workflow> = {
      ...columns,
      ...trigger,
      // Any other change keeps the time of the next firing, which may be overdue.
      nextFireAt: isBegun ? firesAt : keptFireAt,
      ...(isBegun && { enabledSeq: await newestSeq(tx) }),
    }
    if (!isChange(current, next)) return loadDetail(tx, current, edit)
    const saved = await saveVersion(tx, current, { ...next, at })
    if (isOther) await syncTriggerStep(tx, current, { trigger, at })
    if (isEnabled && !current.isEnabled) await requireSound(tx, saved)
    if (isBegun) await refuseCrowded(tx, saved)
    tx.afterCommit(() => deps.workflowNotifier.notify({ kind: 'schedule' }))
    return loadDetail(tx, saved, edit)
  })
}

/**
 * Finds the trigger after the change, and its next firing. This may take some ms, which is too long
 * for a transaction.
 */
function prepareTrigger(
  before: Trigger,
  changes: GivenTrigger,
  context: { now: number; report: GraphEdit['report'] },
) {
  const trigger = changeTrigger(before, changes, context)
  return { before, trigger, firesAt: nextFiringOf(trigger, context.now) }
}

function triggerOf({ triggerType, triggerConfig, triggerEvent, segmentId }: Workflow): Trigger {
  return { triggerType, triggerConfig, triggerEvent, segmentId }
}

function definedColumns({
  name,
  description,
  enabled,
  allowReentry,
}: WorkflowChanges): Partial<Workflow> {
  const columns = { name, description, isEnabled: enabled, allowsReentry: allowReentry }
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined))
}

async function requireTrigger(tx: Tx, current: Workflow, { segmentId }: Trigger): Promise<void> {
  if (segmentId !== null) await loadSegment(tx, { projectId: current.projectId, id: segmentId })
  await refuseActive(tx, current, 'the trigger')
}

async function newestSeq(tx: Tx): Promise<number> {
  const newest = await tx
    .select({ seq: events.seq })
    .from(events)
    .orderBy(desc(events.seq))
    .limit(1)
  return newest[0]?.seq ?? 0
}

/**
 * Updates the TRIGGER step to the trigger of the workflow. If the author has named the step, the
 * name stays.
 */
async function syncTriggerStep(
  tx: Tx,
  { id }: Workflow,
  { trigger, at }: { trigger: Trigger; at: number },
): Promise<void> {
  const { steps } = await loadDefinition(tx, id)
  const step = steps.find(({ type }) => type === 'TRIGGER')
  if (step === undefined) return
  const config = triggerStepConfig(trigger)
  const { eventName: before } = step.config as TriggerConfig
  const hasEventName = before !== undefined && step.name === triggerStepName(before)
  const name =
    hasEventName && config.eventName !== undefined ? triggerStepName(config.eventName) : step.name
  await tx
    .update(workflowSteps)
    .set({ config, name, updatedAt: at })
    .where(eq(workflowSteps.id, step.id))
}

/** @throws AppError BAD_REQUEST with the findings */
async function requireSound(tx: Tx, workflow: Workflow): Promise<void> {
  // The findings have no suggestions here, because finding suggestions takes too long for a
  // transaction.
  const findings = await findWorkflowFindings(tx, workflow, { pairs: 0 })
  const errors = findings.filter(({ severity }) => severity === 'error')
  const [first] = errors
  if (first === undefined) return
  const others = errors.length === 1 ? '' : ` and ${errors.length - 1} more`
  const text = `The workflow cannot be enabled: ${first.message}${others}`
  throw new AppError('BAD_REQUEST', text, {
    details: { findings },
    suggestion: 'Mend the errors in details.findings, then enable the workflow.',
  })
}

/** @throws AppError BAD_REQUEST when too many enabled workflows have the trigger's event */
async function refuseCrowded(tx: Tx, { projectId, triggerEvent }: Workflow): Promise<void> {
  if (triggerEvent === null) return
  const enabled = await tx.$count(
    workflows,
    and(
      eq(workflows.projectId, projectId),
      eq(workflows.triggerEvent, triggerEvent),
      eq(workflows.isEnabled, true),
    ),
  )
  if (enabled <= MAX_WORKFLOWS_PER_EVENT) return
  const text = `At most ${MAX_WORKFLOWS_PER_EVENT} enabled workflows of a project may start with the same event.`
  throw new AppError('BAD_REQUEST', text, { suggestion: 'Disable another workflow of this event.' })
}

function isChange(current: Workflow, columns: Partial<Workflow>): boolean {
  return Object.entries(columns).some(
    ([name, value]) => !isDeepStrictEqual(current[name as keyof Workflow], value),
  )
}
