/** The reason of an email that failed, from the error that its row or its event stores. */
import { formatOptionalInstant } from '../../../../base/clock.ts'
import { type Reason, type ReasonDataOf, reasonOf } from '../../../../records/reason.ts'
import { readGiveUpError } from '../outcome/given-up.ts'
import { shortened } from './quote.ts'
import { refusalCodeOf } from './refusals.ts'

export type FailedEmail = {
  /** As it is stored. */
  error: string | null
  /** Epoch ms; null if it is not known. */
  at: number | null
  /** Null if the number is not known. */
  attempts: number | null
} & Pick<ReasonDataOf<'cancelled'>, 'obstacle' | 'cutOff'>

type FailureCode = 'cancelled' | 'given_up' | 'given_up_untried' | 'refused' | 'error'

export function reasonOfFailure({
  error,
  at,
  attempts,
  ...rest
}: FailedEmail): Reason<FailureCode> {
  const when = formatOptionalInstant(at)
  if (error === null) return reasonOf('error', { error, ...rest })
  if (error === 'cancelled') return reasonOf('cancelled', { at: when, ...rest })
  const refusal = refusalCodeOf(error)
  if (refusal !== null) return reasonOf('refused', { refusal, ...rest })
  const givenUp = readGiveUpError(error)
  if (givenUp === undefined) return reasonOf('error', { error: shortened(error), ...rest })
  const cause = shortened(givenUp.cause)
  if (!givenUp.isTried) return reasonOf('given_up_untried', { error: cause, ...rest })
  return reasonOf('given_up', { at: when, attempts, error: cause, ...rest })
}
