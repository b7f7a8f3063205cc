/** Examples of the operations on workflows. All have the ids of one workflow and its copy. */
import { workflowExample as workflow } from '../../../records/workflow.ts'
import type { OperationExample } from '../../route-docs.ts'

const at = '2026-11-22T09:30:00.000Z'
const times = { createdAt: at, updatedAt: at }
const params = { id: workflow.id }

const trigger = {
  id: '0199a7c0-0000-7000-8000-000000000072',
  workflowId: workflow.id,
  type: 'TRIGGER',
  name: 'signed up',
  position: { x: 100, y: 100 },
  config: { eventName: 'signed up' },
  templateId: null,
  template: null,
}
const delay = {
  id: '0199a7c0-0000-7000-8000-000000000073',
  workflowId: workflow.id,
  type: 'DELAY',
  name: 'One day later',
  position: { x: 100, y: 250 },
  config: { amount: 1, unit: 'days' },
  templateId: null,
  template: null,
}
const greeting = {
  id: '0199a7c0-0000-7000-8000-000000000075',
  workflowId: workflow.id,
  type: 'UPDATE_CONTACT',
  name: 'Welcomed',
  position: { x: 100, y: 175 },
  config: { updates: { welcomed: true } },
  templateId: null,
  template: null,
}
const way = (id: string, from: { id: string }, to: { id: string }) => ({
  id: `0199a7c0-0000-7000-8000-0000000000${id}`,
  fromStepId: from.id,
  toStepId: to.id,
  condition: null,
  waitOutcome: null,
  priority: 0,
  ...times,
})
const toDelay = way('74', trigger, delay)
const toUpdate = { ...toDelay, toStepId: greeting.id }
const first = way('76', greeting, delay)
const second = way('77', greeting, delay)
const without = { outgoingTransitions: [], incomingTransitions: [] }
const copied = <Step extends object>(step: Step, id: string) => ({
  ...step,
  id: `0199a7c0-0000-7000-8000-0000000000${id}`,
  workflowId: '0199a7c0-0000-7000-8000-000000000078',
})

const [copiedTrigger, copiedGreeting] = [copied(trigger, '79'), copied(greeting, '80')]
const copiedWay = way('82', copiedTrigger, copiedGreeting)
const typedFields = [
  { field: 'contact.email', type: 'string', category: 'Contact Fields' },
  { field: 'contact.subscribed', type: 'boolean', category: 'Contact Fields' },
  { field: 'data.city', type: 'string', category: 'Custom Data' },
  { field: 'data.name', type: 'string', category: 'Custom Data' },
  { field: 'data.plan', type: 'string', category: 'Custom Data' },
  { field: 'event.total', type: 'number', category: 'Event Data' },
]

export const create = (): OperationExample => ({
  request: { name: 'Welcome', eventName: 'signed up' },
  status: 201,
  response: { ...workflow, steps: [{ ...trigger, ...without, ...times }] },
})

export const list = (): OperationExample => ({
  query: { page: '1', pageSize: '20', status: 'disabled', search: 'welcome' },
  status: 200,
  response: {
    data: [{ ...workflow, _count: { steps: 1, executions: 0 } }],
    total: 1,
    page: 1,
    pageSize: 20,
    totalPages: 1,
    cursor: null,
    hasMore: false,
  },
})

export const listFields = (): OperationExample => ({
  query: { eventName: 'order placed' },
  status: 200,
  response: {
    fields: typedFields.map(({ field }) => field),
    typedFields,
    count: typedFields.length,
  },
})

export const addStep = (): OperationExample => ({
  params,
  request: {
    type: 'DELAY',
    name: 'Later',
    position: { x: 100, y: 250 },
    config: { amount: 1, unit: 'days' },
  },
  status: 201,
  response: { ...delay, name: 'Later', ...without, incomingTransitions: [toDelay], ...times },
})

export const updateStep = (): OperationExample => ({
  params: { ...params, stepId: delay.id },
  request: { name: 'One day later' },
  status: 200,
  response: { ...delay, ...without, incomingTransitions: [toDelay], ...times },
})

export const insertStep = (): OperationExample => ({
  params: { ...params, transitionId: toDelay.id },
  request: { type: 'UPDATE_CONTACT', name: 'Welcomed', config: greeting.config },
  status: 201,
  response: {
    ...greeting,
    outgoingTransitions: [first],
    incomingTransitions: [toUpdate],
    ...times,
  },
})

export const removeTransition = (): OperationExample => ({
  params: { ...params, transitionId: first.id },
  status: 204,
})

export const addTransition = (): OperationExample => ({
  params,
  request: { fromStepId: greeting.id, toStepId: delay.id },
  status: 201,
  response: second,
})

export const check = (): OperationExample => ({ params, status: 200, response: { findings: [] } })

export const update = (): OperationExample => ({
  params,
  request: { description: 'For new customers', enabled: true },
  status: 200,
  response: {
    ...workflow,
    description: 'For new customers',
    enabled: true,
    version: 7,
    steps: [
      { ...trigger, ...without, outgoingTransitions: [toUpdate], ...times },
      { ...delay, ...without, incomingTransitions: [second], ...times },
      { ...greeting, outgoingTransitions: [second], incomingTransitions: [toUpdate], ...times },
    ],
  },
})

export const removeStep = (): OperationExample => ({
  params: { ...params, stepId: delay.id },
  status: 204,
})

export const get = (): OperationExample => ({
  params,
  status: 200,
  response: {
    ...workflow,
    description: 'For new customers',
    enabled: true,
    version: 8,
    steps: [
      { ...trigger, ...without, outgoingTransitions: [toUpdate], ...times },
      { ...greeting, ...without, incomingTransitions: [toUpdate], ...times },
    ],
  },
})

export const replace = (): OperationExample => ({
  params,
  request: {
    steps: [
      { id: 'start', type: 'TRIGGER', name: 'signed up' },
      { id: greeting.id, type: 'UPDATE_CONTACT', name: 'Greeted', config: greeting.config },
    ],
    transitions: [{ fromStepId: 'start', toStepId: greeting.id }],
  },
  status: 200,
  response: {
    ...workflow,
    description: 'For new customers',
    enabled: true,
    version: 9,
    steps: [
      { ...trigger, ...without, outgoingTransitions: [toUpdate], ...times },
      { ...greeting, name: 'Greeted', ...without, incomingTransitions: [toUpdate], ...times },
    ],
    ids: { start: trigger.id },
  },
})

export const duplicate = (): OperationExample => ({
  params,
  status: 201,
  response: {
    ...workflow,
    id: copiedTrigger.workflowId,
    name: 'Welcome (Copy)',
    description: 'For new customers',
    steps: [
      { ...copiedTrigger, ...without, outgoingTransitions: [copiedWay], ...times },
      {
        ...copiedGreeting,
        name: 'Greeted',
        ...without,
        incomingTransitions: [copiedWay],
        ...times,
      },
    ],
  },
})

export const bulkUpdate = (): OperationExample => ({
  request: { ids: [copiedTrigger.workflowId], delete: true },
  status: 200,
  response: { deleted: 1 },
})

export const remove = (): OperationExample => ({ params, status: 204 })
