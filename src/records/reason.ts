/** The reasons in the API: a code, and the values that its sentence has. */
import { z } from 'zod'
import { instant } from './fields.ts'
import { REASON_CODES, REFUSALS, type ReasonCode, type ReasonField } from './reason-codes.ts'
import { SUPPRESSION_REASONS } from './words.ts'

const text = z.string().nullable()
const refusal = z.enum(REFUSALS).nullable()

const reply = z
  .object({
    code: z.int().nullable(),
    enhancedCode: text,
    text: text.meta({ description: 'On one line, at most 401 characters' }),
  })
  .nullable()

const last = z
  .object({
    class: text,
    host: text,
    reply,
    error: text,
    interrupted: z.boolean(),
    maybeDelivered: z.boolean(),
  })
  .nullable()
  .meta({ description: 'The last attempt or report that counts; null before the first' })

const progress = z
  .object({ step: z.string(), site: z.string(), host: text, address: text, since: instant })
  .nullable()
  .meta({ description: 'Where a delivery is now; null if it is not known' })

/** Every value has one meaning, whatever the code. */
const reasonValues = z.object({
  answersPerDay: z.int(),
  at: instant.nullable().meta({ description: 'When it happened, or will happen' }),
  attempts: z.int().nullable(),
  campaignPaused: z.boolean(),
  cause: text.meta({ description: 'The reply for which the site is limited, if it may be shown' }),
  class: text.meta({ description: 'What the reply means' }),
  complainedAt: instant.nullable(),
  connections: z.int(),
  cutOff: z.object({ at: instant, interrupted: z.boolean() }).nullable().meta({
    description: 'An attempt without an outcome, after which the message may have arrived',
  }),
  domain: z.string().meta({ description: 'The domain of the recipient, in A-labels' }),
  emailsPerSecond: z.number().nullable(),
  error: text,
  heldDomain: text.meta({ description: 'A domain whose mail an operator holds, too' }),
  host: text,
  inFlight: z.int(),
  last,
  maxPerHour: z.int(),
  messagesPerMinute: z.number().nullable(),
  nextAttemptAt: instant.nullable().meta({ description: 'null: it is due now' }),
  obstacle: refusal.meta({ description: 'Why it cannot be tried again; null if it can' }),
  ofCampaign: z.boolean(),
  progress,
  recipient: text,
  refusal,
  reply,
  senderVerified: z.boolean(),
  since: instant.nullable(),
  site: z
    .string()
    .meta({ description: 'The receiving system, as `pillarbox queue sites` names it' }),
  siteError: text.meta({ description: 'Why its site took no mail, while it was not tried' }),
  source: text.meta({ description: 'What put the address on the suppression list' }),
  suppressedSince: instant.nullable(),
  suppression: z.enum(SUPPRESSION_REASONS).nullable(),
  text: text.meta({ description: "The words of the workflow's author" }),
  until: instant.nullable(),
})

type ReasonValues = z.output<typeof reasonValues>

const reasonCode = z.enum(REASON_CODES).meta({
  id: 'ReasonCode',
  description: 'The code of the reason; the guide page `reasons` lists all of them',
})

export const reasonData = reasonValues.partial().meta({
  id: 'ReasonData',
  description:
    'The values that the sentence has: those that the guide page `reasons` names for the code. ' +
    'null: not known, or there is none',
})

/** The fields of a record that always has a reason. */
export const reasonFields = { reasonCode, reasonData }

/** The fields of a record that may have a reason. */
export const reasonOrNone = { reasonCode: reasonCode.nullable(), reasonData: reasonData.nullable() }

/** The fields of a record without a reason. */
export const NO_REASON = { reasonCode: null, reasonData: null }

/** The values of a code. */
export type ReasonDataOf<Code extends ReasonCode> = Pick<ReasonValues, ReasonField<Code>>

export type ReasonData = z.output<typeof reasonData>

/** A reason of the API. */
export type Reason<Code extends ReasonCode = ReasonCode> = {
  reasonCode: Code
  reasonData: ReasonData
}

/** Makes a reason of the API; the types of its values follow from its code. */
export function reasonOf<Code extends ReasonCode>(
  reasonCode: Code,
  reasonData: ReasonDataOf<Code>,
): Reason<Code> {
  return { reasonCode, reasonData }
}
