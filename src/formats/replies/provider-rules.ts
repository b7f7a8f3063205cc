/**
 * Rules on the words and published codes of single providers, for replies whose text says less than
 * the code or contradicts it. They come before the general text rules.
 */
import type { ReplyRule } from './reply-rule.ts'

const KDDI = /(?:^|\.)(?:ezweb\.ne\.jp|au\.com)$/
const DOCOMO = /(?:^|\.)docomo\.ne\.jp$/

export const PROVIDER_RULES: readonly ReplyRule[] = [
  // KDDI (au) refuses an unknown user at RCPT, with the address in the text. The same words without
  // an address, after the data, come from its filters.
  {
    class: 'hard',
    reason: 'userunknown',
    digit: 5,
    mx: KDDI,
    raw: /<?[^\s<>@]{1,64}@[^\s<>@]{1,255}>?\s?: user unknown/,
  },
  {
    class: 'content',
    reason: 'filtered',
    digit: 5,
    mx: KDDI,
    raw: /(?:^|[^>\w]): ?user unknown|\b550[ -]user unknown/,
    isStrike: true,
  },
  // NTT docomo uses the same text for an unknown user and for its filters.
  {
    class: 'content',
    reason: 'filtered',
    digit: 5,
    mx: DOCOMO,
    exceptCommands: ['rcpt'],
    unless: ['1.1'],
    text: /unknown user|user unknown/,
    isStrike: true,
  },

  // Orange and Laposte, with codes such as `OFR_506` and `LPN007_510`.
  { class: 'block', reason: 'blocked', text: /\b(?:ofr|lpn|ouk)\w{0,3}_(?:10[123]|510|999)\b/ },
  { class: 'connections', reason: 'toomanyconn', text: /\b(?:ofr|lpn)\w{0,3}_104\b/ },
  { class: 'policy', reason: 'authfailure', text: /\b(?:ofr|lpn)\w{0,3}_(?:401|517)\b/ },
  { class: 'policy', reason: 'securityerror', text: /\b(?:ofr|lpn)\w{0,3}_(?:305|402)\b/ },
  { class: 'unknown', reason: 'systemerror', text: /\b(?:ofr|lpn)\w{0,3}_505\b/ },
  { class: 'content', reason: 'spamdetected', text: /\b(?:ofr|lpn|ouk)\w{0,3}_(?:506|513)\b/ },
  { class: 'policy', reason: 'policyviolation', text: /\b(?:ofr|lpn)\w{0,3}_630\b/ },

  // Spectrum (Charter), with codes such as `AUP#In-1310`.
  {
    class: 'block',
    reason: 'blocked',
    text: /\baup#\w{0,4}-?(?:1000|11[0-5]0|12[0-5]0)\b/,
  },
  { class: 'connections', reason: 'toomanyconn', text: /\baup#\w{0,4}-?13[0-4]0\b/ },
  { class: 'throttle', reason: 'ratelimited', text: /\baup#\w{0,4}-?1(?:3[5-9]|4\d|5[458])0\b/ },
  { class: 'policy', reason: 'policyviolation', text: /\baup#\w{0,4}-?(?:11[6-9]0|1560)\b/ },
  { class: 'syntax', reason: 'rejected', text: /\baup#\w{0,4}-?(?:10[1-8]0|15[02]0)\b/ },
  // Cox, with codes such as `AUP#CXBL`.
  { class: 'block', reason: 'blocked', text: /\baup#(?:cxbl|cxdns|cdrbl|ipbl)/ },
  { class: 'connections', reason: 'toomanyconn', text: /\baup#cxcnct/ },
  { class: 'throttle', reason: 'toomanyconn', text: /\baup#cxmxrt/ },
  { class: 'policy', reason: 'authfailure', text: /\baup#cxsndr/ },
  { class: 'syntax', reason: 'rejected', text: /\baup#cxsmtp/ },
  { class: 'policy', reason: 'securityerror', text: /\baup#cx(?:thrt|mj)\b/ },
  { class: 'content', reason: 'spamdetected', text: /\baup#urlbl/ },

  // GoDaddy, with codes such as `IB212` at the end of a line.
  { class: 'block', reason: 'blocked', text: /\bib1(?:0[34568]|1[0-3])\b/ },
  { class: 'throttle', reason: 'toomanyconn', text: /\bib(?:007|605)\b/ },
  { class: 'throttle', reason: 'ratelimited', text: /\bib(?:101|504|510|607)\b/ },
  { class: 'content', reason: 'contenterror', text: /\bib50[12]\b/ },

  // Facebook, with codes such as `POL-P7`.
  { class: 'block', reason: 'blocked', text: /\b(?:pol-(?:p[1-4]|t\d)|dns-(?:p3|t2))\b/ },
  { class: 'connections', reason: 'toomanyconn', text: /\bcon-t1\b/ },
  { class: 'throttle', reason: 'toomanyconn', text: /\b(?:con-t[2-9]|msg-t1)\b/ },
  { class: 'syntax', reason: 'rejected', text: /\bdns-(?:p[12]|t1)\b/ },
  { class: 'content', reason: 'virusdetected', text: /\bpol-p5\b/ },
  { class: 'content', reason: 'spamdetected', text: /\bpol-p6\b/ },
  { class: 'policy', reason: 'authfailure', text: /\bpol-p7\b/ },
  { class: 'size', reason: 'toobig', text: /\b(?:msg-p1|int-p2)\b/ },
  { class: 'content', reason: 'contenterror', text: /\bmsg-p[23]\b/ },
  { class: 'disabled', reason: 'suspended', text: /\brcp-t4\b/ },
  { class: 'unknown', reason: 'systemerror', text: /\brcp-t1\b/ },

  // NetEase (163, 126, yeah), with codes such as `DT:SPM`.
  { class: 'content', reason: 'spamdetected', text: /\b(?:dt:spm|mi:spb)\b/ },
  { class: 'block', reason: 'blocked', text: /\b(?:dt:rbl|wm:bli|hl:rep)\b/ },
  { class: 'connections', reason: 'toomanyconn', text: /\bhl:icc\b/ },
  { class: 'throttle', reason: 'toomanyconn', text: /\b(?:mi:ccl|rp:ccl)\b/ },
  {
    class: 'throttle',
    reason: 'ratelimited',
    text: /\b(?:hl:ifc|rp:trc|mi:dmc|mi:stc|mi:cel|rp:drc)\b/,
  },

  // The spam filter of Symantec.cloud (MessageLabs) refuses the content.
  {
    class: 'content',
    reason: 'spamdetected',
    text: /message filtered\b.{0,60}(?:troubleshoot|spam)/,
  },
  // Tencent: the mailbox is closed or does not accept external mail.
  { class: 'disabled', reason: 'suspended', text: /mailbox unavailable or access denied/ },

  // Outlook.com, with codes such as `(SC-001)`.
  { class: 'policy', reason: 'policyviolation', text: /\bsc-002\b/ },

  // Microsoft: a banned sender, not a bad recipient.
  {
    class: 'syntax',
    reason: 'rejected',
    stages: ['late'],
    text: /banned sender(?! ip|ing| ?\[)|spam abuse detected/,
  },
  // Google: a permanent refusal of the sending IP address.
  {
    class: 'block',
    reason: 'blocked',
    stages: ['late'],
    digit: 5,
    text: /unusual rate of (?:unsolicited )?(?:mail|messages)/,
  },
  // Yahoo: a permanent refusal of the sender.
  {
    class: 'syntax',
    reason: 'rejected',
    stages: ['late'],
    text: /will be permanently deferred/,
  },
]
