/** The name of a receiver, as analytics and the queue have it. */
import { t } from '../../text/text.ts'

/** Providers have names of their own; what belongs to none is `Other`. */
export function receiverName(name: string): string {
  return name === 'Other' ? t('receiver.Other') : name
}
