/**
 * Short ids of steps in a graph, such as `welcome`, in place of UUIDs. The name of a TRIGGER is that of the
 * workflow's own; any other stands for a UUID that follows from workflow, type and name. So a graph that is
 * sent again with the same names changes the same steps, and a name with another type is another step.
 */
import { createHash } from 'node:crypto'
import type { StepType } from '../../../../store/schema/words.ts'
import { isObject } from '../graph/config-fields.ts'
import type { GivenGraph, GivenStep } from './parse-graph.ts'

/** UUIDs by the names that a graph has given. */
export type StepIds = Readonly<Record<string, string>>

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

type Place = { workflowId: string; triggerId: string | undefined }

/** Returns the graph with UUIDs, and the UUID of each name. The ids of the steps must be distinct. */
export function resolveNames(
  { steps, transitions }: GivenGraph,
  place: Place,
): { graph: GivenGraph; ids: StepIds } {
  const named = steps.filter(({ id }) => !UUID.test(id))
  const ids = new Map(named.map((step) => [step.id, idOf(step, place)]))
  const resolve = (id: string) => ids.get(id) ?? id
  return {
    ids: Object.fromEntries(ids),
    graph: {
      steps: steps.map((step) => ({
        ...step,
        id: resolve(step.id),
        config: withResolved(step.config, resolve),
      })),
      transitions: transitions.map((edge) => ({
        ...edge,
        fromStepId: resolve(edge.fromStepId),
        toStepId: resolve(edge.toStepId),
      })),
    },
  }
}

function idOf({ id, type }: GivenStep, { workflowId, triggerId }: Place): string {
  if (type === 'TRIGGER' && triggerId !== undefined) return triggerId
  return nameUuid(workflowId, type, id)
}

/** A UUIDv8 (RFC 9562 section 5.8). */
function nameUuid(workflowId: string, type: StepType, name: string): string {
  const bytes = createHash('sha256').update(`${workflowId} ${type} ${name}`).digest()
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = bytes.toString('hex', 0, 16)
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** The email of a step, which a wait or a condition names. */
function withResolved(config: unknown, resolve: (id: string) => string): unknown {
  if (!isObject(config) || typeof config.stepId !== 'string') return config
  return { ...config, stepId: resolve(config.stepId) }
}
