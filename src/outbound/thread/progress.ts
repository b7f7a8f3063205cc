/**
 * How far a delivery has come. The thread that has it keeps its step in an object that changes as
 * it goes on, and answers when it is asked: a step costs two assignments, and no message.
 */

/** The step at hand, of an attempt under way in a delivery thread. */
export type CurrentStep = {
  /**
   * `waiting` for a connection, `compose`, then the stages of a session; of these `message` is the
   * message leaving us, and `final-dot` the wait for its answer.
   */
  step:
    | 'waiting'
    | 'compose'
    | 'connect'
    | 'greeting'
    | 'ehlo'
    | 'starttls'
    | 'auth'
    | 'mail'
    | 'rcpt'
    | 'data'
    | 'message'
    | 'final-dot'
  /** Epoch ms. */
  since: number
  /** Whom the session is with; null while there is none. */
  peer: { host: string; address: string } | null
}
