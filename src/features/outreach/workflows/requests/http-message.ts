import type { WebhookMethod } from '../graph/step-config.ts'

/** As it is stored before the first attempt; each attempt sends the same. */
export type StepHttpRequest = {
  url: string
  method: WebhookMethod
  headers: Record<string, string>
  body: string | null
}
