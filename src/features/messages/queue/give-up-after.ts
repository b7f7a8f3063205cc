/** `delivery.give_up_after`: for how long an email of a class is tried. */
import type { Config } from '../../../config/config.ts'
import {
  CAMPAIGN_CLASS,
  type QueueClass,
  TRANSACTIONAL_CLASS,
  WORKFLOW_CLASS,
} from '../../../queue-class.ts'

/** In milliseconds, from the acceptance of the email or from an operator's retry. */
export function giveUpAfterMs({ delivery }: Config, queueClass: QueueClass): number {
  const { transactional, workflow, campaign } = delivery.giveUpAfter
  const byClass = {
    [TRANSACTIONAL_CLASS]: transactional,
    [WORKFLOW_CLASS]: workflow,
    [CAMPAIGN_CLASS]: campaign,
  }
  return byClass[queueClass]
}
