/**
 * Accepts a request of a client: `POST /v1/send`, submission by SMTP, `pillarbox send`. A request is
 * one transaction, and any refusal leaves nothing behind. When the promise resolves, every email is
 * durable. An idempotency key becomes a row of the same transaction.
 */
import { TRANSACTIONAL_CLASS } from '../../../../base/queue-class.ts'
import type { Project } from '../../../../store/schema/accounts.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import {
  type IdempotentRequest,
  insertIdempotencyKey,
  type ReservedKeys,
  reserveKey,
} from '../../../ground/requests/idempotency.ts'
import type { AcceptQueue } from './accept-queue.ts'
import type { AcceptedEmail } from './email-drafts.ts'
import { discardPlan, type EmailOrigin, planEmails, type SendRequest } from './plan.ts'
import type { FieldFault, TemplateCheck } from './template-check.ts'

/**
 * A request as a client makes it: the input of `planEmails` without the origin, which is the same
 * for all clients.
 */
type MessageRequest = {
  project: Project
  request: SendRequest
  /** If absent, the templates of the request are not checked for faults. */
  check?: TemplateCheck | undefined
}

/**
 * The emails, the time of their acceptance (epoch ms), warnings about the message, and the faults
 * in the templates of the request.
 */
export type AcceptedMessage = {
  emails: AcceptedEmail[]
  at: number
  warnings: readonly string[]
  faults: readonly FieldFault[]
}

/** The key of an idempotent request, and the data of its response, which is stored with the key. */
type IdempotentResponse<Data> = {
  idempotency: { key: string; method: string; path: string } | undefined
  /** Makes the `data` of the response. */
  toResponseData: (accepted: AcceptedMessage) => Data
}

type MessageDeps = Pick<Base, 'config' | 'store' | 'directory' | 'now'> & {
  reservedKeys: ReservedKeys
  acceptQueue: AcceptQueue
}

const CLIENT_ORIGIN: EmailOrigin = { source: 'TRANSACTIONAL', class: TRANSACTIONAL_CLASS }

/**
 * Accepts a request once: a second request with the same key is refused, and the refusal contains the
 * first response.
 * @throws AppError as `acceptMessage`, and IDEMPOTENCY_KEY_REUSED
 */
export function acceptOnce<Data extends Record<string, unknown>>(
  deps: MessageDeps,
  input: MessageRequest,
  { idempotency, toResponseData }: IdempotentResponse<Data>,
): Promise<Data> {
  const at = deps.now()
  if (idempotency === undefined) {
    return writePlanned(deps, { input, at }, (_, accepted) => toResponseData(accepted))
  }
  const keyedRequest: IdempotentRequest = { projectId: input.project.id, at, ...idempotency }
  const hours = deps.config.limits.idempotencyHours
  return reserveKey(deps.reservedKeys, keyedRequest, () =>
    writePlanned(deps, { input, at }, async (tx, accepted) => {
      const responseData = toResponseData(accepted)
      await insertIdempotencyKey(tx, keyedRequest, { statusCode: 200, responseData, hours })
      return responseData
    }),
  )
}

/**
 * Accepts a request, without a key.
 * @throws AppError TEMPLATE_NOT_FOUND, VALIDATION_ERROR, FORBIDDEN (sender domain), BAD_REQUEST
 *   (marketing to an unsubscribed contact), RATE_LIMIT_EXCEEDED (`limits.new_project_daily`),
 *   BILLING_LIMIT_EXCEEDED, DATABASE_ERROR
 */
export async function acceptMessage(
  deps: MessageDeps,
  input: MessageRequest,
): Promise<AcceptedEmail[]> {
  return writePlanned(deps, { input, at: deps.now() }, (_, { emails }) => emails)
}

async function writePlanned<Result>(
  deps: MessageDeps,
  { input: { project, request, check }, at }: { input: MessageRequest; at: number },
  finish: (tx: Tx, accepted: AcceptedMessage) => Promise<Result> | Result,
): Promise<Result> {
  const plan = await planEmails(deps, { project, request, check, origin: CLIENT_ORIGIN }, at)
  const { faults } = plan
  const warnings = plan.content.warnings ?? []
  try {
    return await deps.acceptQueue(plan, (tx, emails) =>
      finish(tx, { emails, at, warnings, faults }),
    )
  } catch (error) {
    await discardPlan(deps, plan)
    throw error
  }
}
