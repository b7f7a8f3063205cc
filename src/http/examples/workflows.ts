import { workflowExample as workflow } from '../../records/workflow.ts'
import type { Examples } from './operation-example.ts'

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
const update = {
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
const toUpdate = { ...toDelay, toStepId: update.id }
const first = way('76', update, delay)
const second = way('77', update, delay)

const without = { outgoingTransitions: [], incomingTransitions: [] }
const copied = <Step extends object>(step: Step, id: string) => ({
  ...step,
  id: `0199a7c0-0000-7000-8000-0000000000${id}`,
  workflowId: '0199a7c0-0000-7000-8000-000000000078',
})
const [copiedTrigger, copiedUpdate] = [copied(trigger, '79'), copied(update, '80')]
const copiedWay = way('82', copiedTrigger, copiedUpdate)

const typedFields = [
  { field: 'contact.email', type: 'string', category: 'Contact Fields' },
  { field: 'contact.subscribed', type: 'boolean', category: 'Contact Fields' },
  { field: 'data.city', type: 'string', category: 'Custom Data' },
  { field: 'data.name', type: 'string', category: 'Custom Data' },
  { field: 'data.plan', type: 'string', category: 'Custom Data' },
  { field: 'event.total', type: 'number', category: 'Event Data' },
]

export const workflowExamples: Examples = {
  'POST /workflows': {
    request: { name: 'Welcome', eventName: 'signed up' },
    status: 201,
    response: { ...workflow, steps: [{ ...trigger, ...without, ...times }] },
  },
  'GET /workflows': {
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
  },
  'GET /workflows/fields': {
    query: { eventName: 'order placed' },
    status: 200,
    response: {
      fields: typedFields.map(({ field }) => field),
      typedFields,
      count: typedFields.length,
    },
  },
  'POST /workflows/:id/steps': {
    params,
    request: {
      type: 'DELAY',
      name: 'Later',
      position: { x: 100, y: 250 },
      config: { amount: 1, unit: 'days' },
    },
    status: 201,
    response: { ...delay, name: 'Later', ...without, incomingTransitions: [toDelay], ...times },
  },
  'PATCH /workflows/:id/steps/:stepId': {
    params: { ...params, stepId: delay.id },
    request: { name: 'One day later' },
    status: 200,
    response: { ...delay, ...without, incomingTransitions: [toDelay], ...times },
  },
  'POST /workflows/:id/transitions/:transitionId/insert-step': {
    params: { ...params, transitionId: toDelay.id },
    request: { type: 'UPDATE_CONTACT', name: 'Welcomed', config: update.config },
    status: 201,
    response: {
      ...update,
      outgoingTransitions: [first],
      incomingTransitions: [toUpdate],
      ...times,
    },
  },
  'DELETE /workflows/:id/transitions/:transitionId': {
    params: { ...params, transitionId: first.id },
    status: 204,
  },
  'POST /workflows/:id/transitions': {
    params,
    request: { fromStepId: update.id, toStepId: delay.id },
    status: 201,
    response: second,
  },
  'POST /workflows/:id/validate': { params, status: 200, response: { findings: [] } },
  'PATCH /workflows/:id': {
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
        { ...update, outgoingTransitions: [second], incomingTransitions: [toUpdate], ...times },
      ],
    },
  },
  'DELETE /workflows/:id/steps/:stepId': {
    params: { ...params, stepId: delay.id },
    status: 204,
  },
  'GET /workflows/:id': {
    params,
    status: 200,
    response: {
      ...workflow,
      description: 'For new customers',
      enabled: true,
      version: 8,
      steps: [
        { ...trigger, ...without, outgoingTransitions: [toUpdate], ...times },
        { ...update, ...without, incomingTransitions: [toUpdate], ...times },
      ],
    },
  },
  'PUT /workflows/:id/graph': {
    params,
    request: {
      steps: [
        { id: 'start', type: 'TRIGGER', name: 'signed up' },
        { id: update.id, type: 'UPDATE_CONTACT', name: 'Greeted', config: update.config },
      ],
      transitions: [{ fromStepId: 'start', toStepId: update.id }],
    },
    status: 200,
    response: {
      ...workflow,
      description: 'For new customers',
      enabled: true,
      version: 9,
      steps: [
        { ...trigger, ...without, outgoingTransitions: [toUpdate], ...times },
        { ...update, name: 'Greeted', ...without, incomingTransitions: [toUpdate], ...times },
      ],
      ids: { start: trigger.id },
    },
  },
  'POST /workflows/:id/duplicate': {
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
          ...copiedUpdate,
          name: 'Greeted',
          ...without,
          incomingTransitions: [copiedWay],
          ...times,
        },
      ],
    },
  },
  'POST /workflows/bulk-update': {
    request: { ids: [copiedTrigger.workflowId], delete: true },
    status: 200,
    response: { deleted: 1 },
  },
  'DELETE /workflows/:id': { params, status: 204 },
}
