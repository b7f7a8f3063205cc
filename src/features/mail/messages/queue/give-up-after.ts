/** `delivery.give_up_after`: how long delivery of an email is tried, by its class. */

import {
  CAMPAIGN_CLASS,
  type QueueClass,
  TRANSACTIONAL_CLASS,
  WORKFLOW_CLASS,
} from '../../../../base/queue-class.ts'
import type { Config } from '../../../../config/config.ts'

/**
 * Returns milliseconds, which count from the acceptance of the email or from an operator's retry.
 */
export function giveUpAfterMs({ delivery }: Config, queueClass: QueueClass): number {
  const { transactional, workflow, campaign } = delivery.giveUpAfter
  const byClass = {
    [TRANSACTIONAL_CLASS]: transactional,
    [WORKFLOW_CLASS]: workflow,
    [CAMPAIGN_CLASS]: campaign,
  }
  return byClass[queueClass]
}
