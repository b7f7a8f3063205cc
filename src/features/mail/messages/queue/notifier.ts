/**
 * Wakes the queue. Code that makes mail due calls `notify` after its commit with the lane and the
 * time, so that the queue need not search. A notice without a listener is lost without harm: a queue
 * reads all lanes when it starts.
 */
import type { QueueClass } from '../../../../base/queue-class.ts'
import type { Notifier } from '../../../../work/loop.ts'

/** The emails of one project for one recipient domain (A-labels) in one class. */
export type QueueLane = { queueClass: QueueClass; domain: string; projectId: string }

/**
 * The reason to wake the queue: an email is due in this lane; an email is due in an unknown lane
 * (`anywhere`); or a site has capacity again (`capacity`).
 */
export type QueueNotice = (QueueLane & { dueAt: number }) | 'anywhere' | 'capacity'

export type QueueNotifier = Notifier<QueueNotice>
