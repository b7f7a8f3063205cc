/**
 * The templates in the values of UPDATE_CONTACT steps are rendered in a thread, because a template may take
 * long, and outside of the transaction of the turn. A turn that reaches such a step asks for its values and
 * leaves the execution at the step; once they are rendered, the next turn of the workflow makes the step.
 *
 * Rendered values are in memory only: if they are lost, as by a crash, a turn asks for them again.
 * A turn also asks again if the contact or the context has changed meanwhile, so that no change is
 * lost. Their memory is bounded, for the workflows of a project and in all: a workflow without room
 * waits, and waiting workflows go on in their order.
 */
import { setImmediate } from 'node:timers/promises'
import { describeError } from '../../../../base/errors.ts'
import type { RenderedTexts } from '../../../../outbound/composing/texts.ts'
import type { Contact } from '../../../../store/schema/contacts.ts'
import { runFor } from '../../../../turns/owner.ts'
import type { Base } from '../../../ground/base.ts'
import { hasTemplateMarker, mapTexts } from '../graph/step-templates.ts'
import type { TurnKey } from '../notifier.ts'
import { executionVariables } from '../variables.ts'

/** The facts that the values of a step are rendered from. */
type ValueFacts = {
  contact: Pick<Contact, 'id' | 'address' | 'subscribed' | 'data'>
  context: Record<string, unknown> | null
  values: Record<string, unknown>
}

/** The values that a walk has asked for. `eventSeq`: that of the walk (`WalkingExecution`). */
export type AskedValues = ValueFacts & {
  executionNumber: number
  ordinal: number
  eventSeq: number | null
}

type StepPlace = { workflowId: string; executionNumber: number; ordinal: number }

type RenderedValues = {
  values: Record<string, unknown> | 'too heavy'
  asked: AskedValues
}

export type StepValues = {
  /**
   * Returns the values that were rendered for the step, perhaps from facts that have changed since
   * (`isOf`).
   */
  find(place: StepPlace): RenderedValues | undefined
  /**
   * Returns how many executions a turn of the workflow may walk if its steps ask for values. While
   * others wait for room, these are only the executions whose values are rendered already. A turn
   * that may walk none waits for `whenRoom`.
   */
  allowance(key: TurnKey): number
  whenRoom(key: TurnKey): Promise<void>
  /**
   * Renders the values that a turn has asked for, and drops those of earlier turns. Resolves to false if
   * some could not be rendered now. Never rejects.
   */
  render(key: TurnKey, asked: readonly AskedValues[]): Promise<boolean>
}

type Deps = Pick<Base, 'outbound' | 'config' | 'keyring' | 'log' | 'now' | 'directory'>

/** One turn may ask for the values of at most this many executions: each may have 64 KB. */
export const MAX_ASKED_VALUES = 50

/** Characters of JSON that are counted at once; with many names this takes a few ms. */
const COUNTED_AT_ONCE = 128 * 1024

type RenderRoom = {
  /** Whether there is room beside the values of other workflows. */
  has(key: TurnKey): boolean
  /** Whether a workflow waits for room. */
  isWanted(): boolean
  /** Sets how many characters the workflow's values take. 0 frees the room of the workflow. */
  hold(key: TurnKey, characters: number): void
  /** Resolves when there is room. */
  wait(key: TurnKey): Promise<void>
}

type StepValueLimits = { perProject: number; all: number }

type Waiter = { key: TurnKey; goOn(): void }

/**
 * The room for rendered values, in characters of JSON. The values of a single turn may exceed it.
 */
const LIMITS: StepValueLimits = { perProject: 16 * 1024 * 1024, all: 64 * 1024 * 1024 }

export function createStepValues(deps: Deps, room = createRenderRoom()): StepValues {
  const rendered = new Map<string, Map<string, RenderedValues>>()
  return {
    find: ({ workflowId, ...place }) => rendered.get(workflowId)?.get(keyOf(place)),
    allowance(key) {
      const own = rendered.get(key.workflowId)?.size ?? 0
      if (own === 0) return room.has(key) ? Number.POSITIVE_INFINITY : 0
      return room.has(key) && !room.isWanted() ? Number.POSITIVE_INFINITY : own
    },
    whenRoom: room.wait,
    async render(key, asked) {
      const { workflowId, projectId } = key
      const own = new Map<string, RenderedValues>()
      if (asked.length === 0) rendered.delete(workflowId)
      else rendered.set(workflowId, own)
      await takeRoom(room, key, asked)
      const renderOne = async (each: AskedValues): Promise<boolean> => {
        try {
          own.set(keyOf(each), { values: await renderValues(deps, projectId, each), asked: each })
          return true
        } catch (error) {
          const facts = { workflowId, executionNumber: each.executionNumber }
          deps.log.warn(
            { ...facts, error: describeError(error) },
            'the values of a step could not be rendered; they are tried again',
          )
          return false
        }
      }
      return (await Promise.all(asked.map(renderOne))).every(Boolean)
    },
  }
}

/**
 * Counts the characters of values and takes room for them. Other work runs between pieces of the
 * count; meanwhile no other workflow gets room.
 */
async function takeRoom(
  room: Pick<RenderRoom, 'hold'>,
  key: TurnKey,
  asked: readonly AskedValues[],
): Promise<void> {
  let characters = 0
  let counted = 0
  for (const each of asked) {
    if (characters - counted > COUNTED_AT_ONCE) {
      counted = characters
      room.hold(key, Number.POSITIVE_INFINITY)
      await setImmediate()
    }
    characters += JSON.stringify(each).length
  }
  room.hold(key, characters)
}

export function hasTemplates(values: Record<string, unknown>): boolean {
  return listTemplates(values).length > 0
}

/** Whether the values were rendered from these facts. */
export function isOf({ asked }: RenderedValues, facts: ValueFacts): boolean {
  const { contact, context, values } = asked
  return JSON.stringify({ contact, context, values }) === JSON.stringify(facts)
}

function keyOf({ executionNumber, ordinal }: Pick<AskedValues, 'executionNumber' | 'ordinal'>) {
  return `${executionNumber} ${ordinal}`
}

function listTemplates(values: Record<string, unknown>): string[] {
  const templates: string[] = []
  mapTexts(values, (text) => {
    if (hasTemplateMarker(text)) templates.push(text)
    return text
  })
  return templates
}

async function renderValues(
  deps: Deps,
  projectId: string,
  { values, ...facts }: AskedValues,
): Promise<RenderedValues['values']> {
  const templates = listTemplates(values).map((source) => ({ source, format: 'text' }) as const)
  const { postalAddress = null } = (await deps.directory.findProject(projectId)) ?? {}
  const variables = executionVariables(deps, { projectId, ...facts, postalAddress })
  const at = deps.now()
  const texts: RenderedTexts = await runFor({ key: projectId, isJob: true }, () =>
    deps.outbound.renderTexts({ templates, variables, at }),
  )
  if (texts === 'too heavy') return texts
  let next = 0
  const fill = (text: string) => (hasTemplateMarker(text) ? (texts[next++] ?? '') : text)
  return mapTexts(values, fill) as Record<string, unknown>
}

export function createRenderRoom({ perProject, all }: StepValueLimits = LIMITS): RenderRoom {
  const occupied = new Map<string, { projectId: string; characters: number }>()
  const waiters: Waiter[] = []

  function fits({ workflowId, projectId }: TurnKey): boolean {
    let [own, total] = [0, 0]
    for (const [id, each] of occupied) {
      if (id === workflowId) continue
      total += each.characters
      if (each.projectId === projectId) own += each.characters
    }
    return own < perProject && total < all
  }

  return {
    has: fits,
    isWanted: () => waiters.length > 0,
    hold({ workflowId, projectId }, characters) {
      if (characters === 0) occupied.delete(workflowId)
      else occupied.set(workflowId, { projectId, characters })
      // Only one waiter goes on here: its turn then lets the next waiter go on.
      const next = waiters.findIndex(({ key }) => fits(key))
      if (next >= 0) waiters.splice(next, 1)[0]?.goOn()
    },
    wait(key) {
      if (fits(key)) return Promise.resolve()
      return new Promise((resolve) => waiters.push({ key, goOn: resolve }))
    },
  }
}
