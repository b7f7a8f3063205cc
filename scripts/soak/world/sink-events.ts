/** What the sinks' process and the run tell each other. */

/** After `calm`, all receivers are there and none drops connections. */
export type SinkCommand =
  | { do: 'start'; seed: number }
  | { do: 'down' | 'up' | 'reset'; domain: string }
  | { do: 'calm' }

/** What links a message has: the last part of their paths. */
export type MessageLinks = { open?: string; click?: string; unsubscribe?: string }

export type SinkEvent =
  | { is: 'started'; port: number }
  | { is: 'done' }
  | {
      is: 'arrival'
      /** Of all arrivals, from 1. */
      serial: number
      site: string
      emailId: string
      number: number | null
      from: string
      to: string
      at: number
      messageId: string
      links: MessageLinks
      /** The header section. */
      header: string
    }
  | { is: 'replied'; serial: number; at: number }
  | { is: 'refusal'; site: string; emailId: string; to: string; at: number }
