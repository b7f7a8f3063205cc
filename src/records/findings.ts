/** The findings of a check of a message (`formats/compose/message-findings.ts`). */
import { z } from 'zod'

export const findings = z.object({
  findings: z.array(
    z.object({
      code: z.string(),
      severity: z.enum(['error', 'warning', 'info']),
      message: z.string(),
      fix: z.string(),
    }),
  ),
})
