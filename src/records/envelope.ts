/** Answers of calls that wrap their data, with `success`. */
import { z } from 'zod'

export function enveloped<Data extends z.ZodType>(data: Data) {
  return z.object({ success: z.literal(true), data })
}

/** The answer of a call whose effect is all there is to say. */
export const messageResult = enveloped(z.object({ message: z.string() }))
