/** Examples of the operations on executions of a workflow: a trigger, then a delay. */
import { conditionExample as proPlan } from '../../../records/condition.ts'
import { contactExample as contact } from '../../../records/contact.ts'
import { NO_REASON, reasonOf } from '../../../records/reason.ts'
import type { OperationExample } from '../../route-docs.ts'

const params = { id: '0199a7c0-0000-7000-8000-0000000000b1' }
const trigger = { id: '0199a7c0-0000-7000-8000-0000000000b2', name: 'signup', type: 'TRIGGER' }
const delay = { id: '0199a7c0-0000-7000-8000-0000000000b3', name: 'One day', type: 'DELAY' }
const transition = '0199a7c0-0000-7000-8000-0000000000b4'
const jobId = 'bulk-start-0199a7c0-0000-7000-8000-000000000001-1795339821000'
const startedAt = '2026-11-22T09:30:00.000Z'
const endedAt = '2026-11-22T09:40:00.000Z'
const resumeAt = '2026-11-23T09:30:00.000Z'
const execution = {
  id: '0199a7c0-0000-7000-8000-0000000000b5',
  workflowId: params.id,
  contactId: contact.id,
  status: 'RUNNING',
  currentStepId: trigger.id,
  exitReason: null,
  ...NO_REASON,
  context: { plan: 'pro' },
  sourceEventId: null,
  startedAt,
  completedAt: null,
  createdAt: startedAt,
  updatedAt: startedAt,
  contact: { id: contact.id, email: contact.email },
  currentStep: trigger,
  depth: 0,
  heldReason: null,
}
const waiting = {
  ...execution,
  status: 'WAITING',
  currentStepId: delay.id,
  currentStep: delay,
}
const stepExecution = {
  id: '0199a7c0-0000-7000-8000-0000000000b6',
  executionId: execution.id,
  stepId: trigger.id,
  status: 'COMPLETED',
  scheduledFor: null,
  executeAfter: null,
  input: null,
  output: { triggered: true },
  error: null,
  ...NO_REASON,
  startedAt,
  completedAt: startedAt,
  createdAt: startedAt,
  updatedAt: startedAt,
  step: trigger,
}
const one = { ...params, eid: execution.id }

export const start = (): OperationExample => ({
  params,
  request: { contactId: contact.id, context: { plan: 'pro' } },
  status: 201,
  response: execution,
})

export const list = (): OperationExample => ({
  params,
  query: { page: '1', pageSize: '20', status: 'WAITING' },
  status: 200,
  response: { executions: [waiting], total: 1, page: 1, pageSize: 20, totalPages: 1 },
})

export const show = (): OperationExample => ({
  params: one,
  status: 200,
  response: {
    ...waiting,
    workflow: { id: params.id, name: 'Welcome' },
    stepExecutions: [
      stepExecution,
      {
        ...stepExecution,
        id: '0199a7c0-0000-7000-8000-0000000000b7',
        ...{ stepId: delay.id, step: delay, status: 'WAITING' },
        ...{ scheduledFor: resumeAt, output: null, completedAt: null },
      },
    ],
  },
})

export const showStats = (): OperationExample => ({
  params,
  status: 200,
  response: {
    steps: [
      {
        ...{ stepId: trigger.id, name: trigger.name, type: trigger.type },
        ...{ waiting: 0, completed: 1, failed: 0, skipped: 0, medianMs: 0 },
      },
      {
        ...{ stepId: delay.id, name: delay.name, type: delay.type },
        ...{ waiting: 1, completed: 0, failed: 0, skipped: 0, medianMs: null },
      },
    ],
    transitions: [
      { transitionId: transition, fromStepId: trigger.id, toStepId: delay.id, taken: 1 },
    ],
    executions: {
      ...{ total: 1, running: 0, waiting: 1, completed: 0, exited: 0, failed: 0 },
      ...{ cancelled: 0, heldBack: 0, tooManyStarts: 0, automatic: 0 },
      ...{ chainTooDeep: 0, chainDelayed: 0 },
    },
  },
})

export const retry = (): OperationExample => ({
  params: one,
  status: 200,
  response: { ...waiting, status: 'RUNNING' },
})

export const cancel = (): OperationExample => ({
  params: one,
  status: 200,
  response: {
    ...execution,
    ...{
      status: 'CANCELLED',
      exitReason: 'cancelled by user',
      ...reasonOf('cancelled_by_user', {}),
      completedAt: endedAt,
    },
    ...{ currentStepId: null, currentStep: null },
  },
})

export const startBulk = (): OperationExample => ({
  params,
  request: { filter: proPlan },
  status: 202,
  response: { message: 'The executions are queued.', jobId },
})

export const showBulk = (): OperationExample => ({
  params: { ...params, jobId },
  status: 200,
  response: {
    id: jobId,
    state: 'completed',
    progress: 100,
    result: {
      totalRequested: 1,
      startedCount: 0,
      heldBackCount: 1,
      tooManyStartsCount: 0,
      failureCount: 0,
    },
    data: { projectId: contact.projectId, workflowId: params.id, filter: proPlan, context: null },
    failedReason: null,
  },
})

export const cancelAll = (): OperationExample => ({
  params,
  request: {},
  status: 200,
  response: { cancelled: 0 },
})
