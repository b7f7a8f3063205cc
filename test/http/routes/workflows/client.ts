/** Calls of the workflow routes that most tests make. */
import assert from 'node:assert/strict'
import type { Response } from 'supertest'
import type { TestProject } from '../../../core.ts'
import { addExecution } from '../../../features/outreach/workflows/definition/add-execution.ts'
import type { useService } from '../../service.ts'

export type ShownTransition = {
  id: string
  fromStepId: string
  toStepId: string
  condition: { branch: string } | null
  waitOutcome: string | null
  priority: number
}

export type ShownStep = {
  id: string
  type: string
  name: string
  position: object
  config: Record<string, unknown>
  templateId: string | null
  createdAt: string
  updatedAt: string
  outgoingTransitions: ShownTransition[]
}

export const at = { x: 0, y: 0 }

export function workflowClient({ service, mine, call }: ReturnType<typeof useService>) {
  const ok = async (request: PromiseLike<Response>, status = 200) => {
    const answer = await request
    assert.equal(answer.status, status, answer.text)
    return answer.body
  }
  const create = (change: object = {}, by: TestProject = mine) =>
    ok(call('post', '/workflows', by).send({ name: 'W', eventName: 'signup', ...change }), 201)
  const show = (id: string) => ok(call('get', `/workflows/${id}`))
  const patch = (id: string, change: object) => call('patch', `/workflows/${id}`).send(change)
  const add = (id: string, type: string, config: object = {}, more: object = {}) =>
    call('post', `/workflows/${id}/steps`).send({ type, name: type, position: at, config, ...more })
  const link = (id: string, fromStepId: string, toStepId: string, more: object = {}) =>
    call('post', `/workflows/${id}/transitions`).send({ fromStepId, toStepId, ...more })
  const put = (id: string, graph: object, ifMatch?: string) => {
    const request = call('put', `/workflows/${id}/graph`)
    if (ifMatch !== undefined) request.set('If-Match', ifMatch)
    return request.send(graph)
  }
  const stand = (workflowId: string, stepId: string, more: object = {}) =>
    addExecution(service.core, { projectId: mine.id, workflowId, stepId, ...more })

  /** A workflow TRIGGER > DELAY > UPDATE_CONTACT > EXIT, with the ids of its steps. */
  const chain = async () => {
    const { id, steps } = await create()
    const delay = await ok(add(id, 'DELAY', { amount: 1, unit: 'days' }), 201)
    const update = await ok(add(id, 'UPDATE_CONTACT', { updates: { a: 1 } }), 201)
    const exit = await ok(add(id, 'EXIT'), 201)
    return { id, trigger: steps[0].id, delay: delay.id, update: update.id, exit: exit.id }
  }
  /** The ways of a graph, as `TRIGGER>DELAY`, `CONDITION>EXIT yes`. */
  const ways = async (id: string): Promise<string[]> => {
    const { steps }: { steps: ShownStep[] } = await show(id)
    const names = new Map(steps.map((step) => [step.id, step.name]))
    return steps.flatMap(({ name, outgoingTransitions }) =>
      outgoingTransitions.map(({ toStepId, condition, waitOutcome }) =>
        `${name}>${names.get(toStepId)} ${condition?.branch ?? waitOutcome ?? ''}`.trim(),
      ),
    )
  }
  const enable = (id: string) => ok(patch(id, { enabled: true }))
  return { ok, create, show, patch, add, link, put, stand, chain, ways, enable }
}
