/**
 * Compares the clock with the Date header of `doctor.time_url`, which has whole seconds. Beyond a minute
 * signatures count as made in the future and codes of a second factor fail; a difference of seconds
 * means that nothing keeps the clock right.
 */
import { SECOND_MS } from '../../../base/clock.ts'
import type { Check } from './check.ts'
import { failed, ok, skipped, warning } from './outcome.ts'

const MAX_OK_MS = 5 * SECOND_MS
const MAX_WARNING_MS = 60 * SECOND_MS
const FIX = 'timedatectl set-ntp true'

export const clockCheck: Check = {
  id: 'clock',
  run: async ({ config, probes, now }) => {
    const { timeUrl } = config.doctor
    if (timeUrl === null) return skipped('doctor.time_url is not set')
    const askedAt = now()
    const result = await probes.request({ url: new URL(timeUrl), method: 'HEAD' })
    const answeredAt = now()
    if (result.kind !== 'response')
      return warning(`${timeUrl}: ${result.error}`, 'Check doctor.time_url.')
    const at = Date.parse(result.headers.date ?? '')
    if (Number.isNaN(at))
      return warning(`${timeUrl} sends no date`, 'Choose another doctor.time_url.')
    // The answer was written between both instants, within the second that it names.
    const aheadMs = Math.max(0, askedAt - (at + SECOND_MS)) - Math.max(0, at - answeredAt)
    const seconds = Math.round(Math.abs(aheadMs) / SECOND_MS)
    const text = `the clock is ${seconds} s ${aheadMs < 0 ? 'behind' : 'ahead of'} ${timeUrl}`
    if (Math.abs(aheadMs) <= MAX_OK_MS) return ok(seconds === 0 ? `as at ${timeUrl}` : text)
    return Math.abs(aheadMs) <= MAX_WARNING_MS ? warning(text, FIX) : failed(text, FIX)
  },
}
