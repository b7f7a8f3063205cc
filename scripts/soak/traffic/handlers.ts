/** Which function carries out which operation of the plan. */
import type { OperationKind } from '../plan/operations.ts'
import { campaign } from './campaign.ts'
import { command } from './command.ts'
import { deleteContact, saveContact } from './contacts.ts'
import { changeEndpoint } from './endpoint.ts'
import { read } from './read.ts'
import { reply, reportBounce, reportComplaint } from './report.ts'
import * as sending from './send.ts'
import { submit } from './submit.ts'
import { startWorkflow, track, trackKeyed } from './track.ts'
import type { Handler } from './traffic.ts'
import { click, open, unsubscribe } from './visit.ts'
import { cancelEmail, cancelExecution } from './withdraw.ts'

export const HANDLERS: Record<OperationKind, Handler> = {
  send: sending.send,
  'send-keyed': sending.sendKeyed,
  'send-many': sending.sendMany,
  'send-attachment': sending.sendAttachment,
  'send-template': sending.sendTemplate,
  'send-abandoned': sending.sendAbandoned,
  'send-then-erase': sending.sendThenErase,
  submit,
  track,
  'track-keyed': trackKeyed,
  'start-workflow': startWorkflow,
  'cancel-execution': cancelExecution,
  'save-contact': saveContact,
  'delete-contact': deleteContact,
  'report-bounce': reportBounce,
  'report-complaint': reportComplaint,
  reply,
  open,
  click,
  unsubscribe,
  read,
  'cancel-email': cancelEmail,
  'change-endpoint': changeEndpoint,
  campaign,
  command,
}
