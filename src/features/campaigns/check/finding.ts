/** Something about a campaign that its author may want to mend before it is sent. */
export type Finding = {
  code: string
  /** `error`: the campaign would not be sent, or would reach nobody. */
  severity: 'error' | 'warning' | 'info'
  message: string
  /** What to do. */
  fix: string
}
