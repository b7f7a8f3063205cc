/** Responses that wrap their data in an object with `success`. */
import { z } from 'zod'

export function enveloped<Data extends z.ZodType>(data: Data) {
  return z.object({ success: z.literal(true), data })
}

/** The response of a call that returns nothing but a message. */
export const messageResult = enveloped(z.object({ message: z.string() }))
