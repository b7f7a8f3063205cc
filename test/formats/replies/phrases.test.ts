/** Texts of common mail systems in late reports. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { classifyWithBasis } from '../../../src/formats/replies/classify-reply.ts'
import type { BounceReason } from '../../../src/formats/replies/reply.ts'

/** Original lines of servers: reply code (0 for prose), enhanced code, text. */
const phrases: Partial<Record<BounceReason, string>> = {
  userunknown: `550 the recipients were undeliverable
553 5.7.1 the envelope recipient is in badrcptto
550 Recipient mailbox is not allowed
550 5.1.4 Recipient address reserved by RFC 2606
550 vdeliver: Invalid or unknown virtual user
550 5.1.1 User unknown
550 5.1.1 <a@b.test>... User unknown
550 5.1.0 Address rejected
550 Address invalid
550 Account not found
550 5.1.1 Address does not exist
550 Address not present in directory
550 address unknown
550 Can't accept user
550 destination addresses were unknown
550 destination server rejected recipients
550 Email address does not exist
550 email address could not be found
550 Invalid address
550 Invalid mailbox
550 Invalid mailbox path
550 Invalid recipient
550 is not a known user
550 neko is not a local mailbox
550 not a valid mailbox
550 is not an active address at this host
550 Mailbox does not exist
550 Mailbox invalid
550 Mailbox is unavailable
550 mailbox not present
550 mailbox not found
550 nessun utente simile in questo sito
550 no account by that name here
550 No existe dicha persona
550 No existe ese usuario
550 No mail box available for this user
550 no mailbox by that name is currently available
550 No mailbox found
550 No such address here
550 no such mailbox
550 no such person at this address
550 no such recipient
550 no such user
550 No thank you rejected: Account Unavailable
550 No user here
550 non-existent user
550 not a valid recipient
550 not listed in Domino Directory
550 nonexistent user
550 Recipient address rejected: userunknown
550 recipient does not exist
550 recipient is not accepted
550 recipient is not local
550 recipient not exist
550 Recipient not found
550 Recipient not OK
550 recipient unknown
550 Requested action not taken: mailbox unavailable
550 5.1.1 RESOLVER.ADR.RecipNotFound; not found
550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup
550 5.1.1 RESOLVER.ADR.ExRecipNotFound; not found
550 sorry, user unknown
550 sorry, no mailbox here by that name (#5.1.1)
550 5.1.1 The email account that you tried to reach does not exist.
550 the user's email name is not found
550 there is no one at this address
550 This address is not in our directory
550 this email address is wrong or no longer valid
550 this recipient is in my badrecipientto list
550 sorry, this recipient is not in my validrcptto list (#5.7.1)
550 unknown mailbox
550 unknown recipient
550 Unknown user
550 User foo does not exist
550 user missing home directory
550 user not exist
550 user not found
550 user not known
550 utilisateur inconnu !
550 vdelivermail: no such user
550 Your envelope recipient has been denied
550 5.1.1 unknown or illegal alias: foo@bar.test
550 Unrouteable address
550 unrouteable address
550 <x@y.test>: Recipient address rejected: User unknown in relay recipient table
550 <x@y.test>: Recipient address rejected: undeliverable address: host 1.2.3.4 said: 550 5.1.1 no
550 #5.1.0 Address rejected x@y.test
550 5.1.1 recipient rejected
550 No such user (x@y.test)
550 User x unknown. Recipient not found
550 5.1.1 Dest-Domain/User unknown
554 5.1.1 Mailbox "x" does not exist
550 That user is not known here
550 cuenta inexistente
550 usuario desconocido
550 Empfänger unbekannt
550 destinataire inconnu
550 Пользователь не найден
550 用户不存在
550 5.1.1 収信者が存在しません
550 Benutzer existiert nicht
550 Mailbox unavailable
550 Requested mail action not taken: mailbox unavailable
550 RCPT (x@y.test) dosn't exist
550 The mail address you have attempted to send to is not recognised
550 User doesn't exist: x
551 5.1.1 no mailbox found
550 Invalid recipient: <x@y.test>
554 delivery error: dd This user doesn't have a yahoo.com account
550 account is not available`,
  mailboxfull: `552 mailbox exceeds allowed size
552 5.2.2 Over quota
452 4.2.2 The email account that you tried to reach is over quota
550 account is over quota
550 account is temporarily over quota
550 account is exceeding their quota
550 boite du destinataire pleine
552 delivery failed: over quota
552 disc quota exceeded
552 does not have enough space
552 exceeded storage allocation
552 exceeding its mailbox quota
552 full mailbox
552 is over disk quota
552 mail file size exceeds the maximum size allowed for mail delivery
552 mail quota exceeded
552 mailbox exceeded the local limit
552 mailbox full
552 mailbox has exceeded its disk space limit
550 mailbox over quota
552 mailbox quota usage exceeded
552 mailbox size limit exceeded
552 maildir over quota
552 maildir delivery failed: userdisk quota
552 mailfolder is full
552 not enough storage space in the mailbox
552 over the allowed quota
552 quota exceeded
552 quota violation for
552 recipient reached disk quota
552 recipient was rejected: mailbox would exceed maximum allowed storage
552 the recipient mailbox has exceeded its disk space limit
552 the user's space has been used up
552 too much mail data
552 user has exceeded quota, bouncing mail
552 user has too many messages on the server
552 user is over the quota
552 user over quota. (#5.1.1)
554 5.2.2 mailbox full; STOREDRV.Deliver.Exception:QuotaExceededException.MapiExceptionShutoffQuotaExceeded
552 Requested mail action aborted: exceeded storage allocation
550 inbox is full
452 Mailbox size limit exceeded
550 Postfach ist voll
550 ящик переполнен
550 邮箱已满
552 5.2.2 This message is larger than the current system limit or the recipient's mailbox is full`,
  suspended: `550 5.1.1 archived recipient
550 Mailaddress is administratively disabled
550 Account temporary locked
550 5.7.505 Access denied, banned recipient
550 account disabled
550 account has been suspended
550 boite du destinataire archivee
550 5.2.1 The email account that you tried to reach is disabled
550 has been suspended
550 invalid/inactive user
550 x is a deactivated mailbox
550 is unavailable: user is terminated
550 mailbox currently suspended
550 mailbox is frozen
550 recipient rejected: temporarily inactive
550 recipient suspend the service
554 this account has been disabled or discontinued
550 this account has been temporarily suspended
550 this address no longer accepts mail
550 this mailbox is disabled
550 user or domain is disabled
550 user suspended
550 vdelivermail: account is locked email bounced
550 Mailbox disabled
550 Mailbox temporarily disabled: x@y.test
550 Account is not active
550 user account is inactive
550 5.2.1 This mailbox has been blocked due to inactivity`,
  hostunknown: `0 all host address lookups failed permanently
550 recipient domain must exist
0 DNS lookup failure: host y.test not found
553 mail.y.test does not exist
550 5.1.2 Host unknown
550 5.1.2 <x@y.test>... Host unknown (Name server: y.test: host not found)
550 domain does not exist
550 domain is not reachable
550 host or domain name not found
550 host unknown
550 name or service not known
550 no such domain
550 recipient address rejected: unknown domain name
550 5.4.4 unknown host
550 unrouteable mail domain
550 illegal host/domain name found
550 bad destination system address
550 mail domain mentioned in email address is unknown
550 all relevant MX records point to non-existent hosts
550 5.4.310 DNS domain y.test does not exist
550 SMTPSEND.DNS.NonExistentDomain; nonexistent domain
550 Invalid domain name
550 couldn't find any host named y.test
550 5.4.4 Invalid domain
550 Name service error for name=y.test type=A: Host not found`,
  filtered: `550 Cannot route mail to user
550 because the recipient is only accepting mail from specific email addresses
550 bounced address
550 has restricted sms e-mail
550 is not accepting any mail
550 message filtered
550 message rejected due to user rules
550 refused due to recipient preferences
550 this account is protected by
550 user refuses to receive this mail
550 we failed to deliver mail because the following address recipient id refuse to receive mail
550 you have been blocked by the recipient
550 5.2.0 Message Filtered
550 5.1.1 RCP-P1 http://postmaster.facebook.com/response_codes?ip=1.2.3.4#rcp Refused due to recipient preferences`,
  rejected: `554 envelope blocked - user entry
550 Administrative prohibition
550 you are not allowed to post to this list
550 sender was not authenticated by organization
550 MX records for y.test violate a rule
553 sorry, your domain has been blocked
550 connections not accepted from servers without a valid sender domain
541 5.4.1 Mail rejected by destination domain
550 <> invalid sender
553 5.1.8 domain of sender address x@y.test does not exist
550 batv failed to verify
550 backscatter protection detected invalid or expired email address
550 bogus mail from
550 denied [bouncedeny]
550 emetteur invalide
550 empty envelope senders not allowed
550 Fully Qualified Email Address required
550 Invalid sender
550 5.7.1 Mail from not owned by user
550 null sender is not allowed
550 returned mail not accepted here
550 sender address has been blacklisted
550 sender email address rejected
550 sender is in my black list
550 sender is spammer
550 sender not pre-approved
550 sender rejected
550 sender domain is empty
550 sender verify failed
550 server does not accept mail from
550 unroutable sender address
550 you are sending to/from an address that has been blacklisted
550 your email address has been blacklisted
501 5.1.8 Sender address rejected
550 5.1.0 sender denied
550 From: Domain is invalid. Please provide a valid From:
550 <a@b.test>: Sender address rejected: undeliverable address
550 5.7.1 <a@b.test>: Sender address rejected: Domain not found
554 5.1.0 sender address verification failed
550 Sender verify failed
550 5.7.60 SMTP; Client does not have permissions to send as this sender
550 5.7.1 RESOLVER.RST.NotAuthorized; not authorized
550 5.7.1 Delivery not authorized, message refused`,
  blocked: `550 Go away
550 blocked - see http://x.test
550 IP/domain reputation problems
421 DNS check failure - try again later
554 Connection denied
0 Deferred: Connection refused by mx.y.test
0 Connection reset by peer
421 Service not available, closing transmission channel
550 5.7.1 Service unavailable; client [192.0.2.1] blocked using zen.spamhaus.org
550 access denied. ip name lookup failed
550 access from ip address 192.0.2.1 blocked
550 all mail servers must have a PTR record with a valid Reverse DNS entry
554 Bad DNS PTR resource record
550 bad sender ip address
550 banned sending ip
550 blocked for abuse
550 cannot find your reverse hostname
550 client host rejected: may not be mail exchanger
550 Client host rejected: cannot find your hostname, [192.0.2.1]
553 connections will not be accepted from 192.0.2.1
550 currently sending spam
550 error: no smtp service here
554 x ESMTP not accepting connections
550 extreme bad ip profile
550 fix reverse DNS for 192.0.2.1
550 helo command rejected: host not found
550 hosts with dynamic ip are not accepted
550 invalid ip for sending mail of domain
550 ip 192.0.2.1 is in black list
550 ips with missing ptr records
550 is not allowed to send mail from
550 listed in work.drbl
550 mail from 192.0.2.1 refused: list
550 mail server at 192.0.2.1 is blocked
550 message from 192.0.2.1 rejected based on blacklist
550 messages from 192.0.2.1 weren't sent
421 4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred due to user complaints
550 no access from mail server
550 not currently accepting mail from your ip
550 part of their network is on our block list (S3150)
550 please get a custom reverse dns name from your isp
550 please use the smtp server of your ISP
550 rejected - multi-blacklist
550 rejecting open proxy
550 reverse dns required
550 sender ip address rejected
550 sender ip reverse lookup rejected
550 server access 192.0.2.1 forbidden by
550 server ip 192.0.2.1 listed as abusive
550 service permits 2 unverifyable sending ips
550 sorry, your remotehost looks suspiciously like spammer
550 the email address used to send was found on ip blacklist
550 too many spams from your ip
550 too many unwanted messages have been sent from the following ip address above
550 unresolvable relay host name
550 we do not accept mail from hosts with dynamic ip or generic dns ptr-records
550 you are not allowed to connect
550 your ip address is listed in the rbl
550 your network is temporary blacklisted
550 5.7.606 Access denied, banned sending IP [192.0.2.1]
554 Your access to this mail system has been rejected due to the sending MTA's poor reputation
550 5.7.1 Mail from 192.0.2.1 has been refused by blacklist
451 4.7.650 The mail server [192.0.2.1] has been temporarily rate limited due to IP reputation
550 5.7.25 The IP address sending this message does not have a PTR record setup
550 SC-001 (COL004-MC1F1) Unfortunately, messages from 192.0.2.1 weren't sent
550 5.7.1 [192.0.2.1 12] Our system has detected that this IP is very low reputation`,
  spamdetected: `550 Message rejected because of unacceptable content
550 rejecting banned content
550 this message scored 9 spam points
550 blocked by our filter
550 blacklisted url in message
550 content filter rejected the mail
550 considered spam
550 denied due to spam list
550 high spam probability
550 is classified as spam and is rejected
550 listed in surbl
550 mail appears to be unsolicited
550 mail content denied
550 may consider spam
550 message contains spam
550 message content rejected
550 message rejected due to suspected spam content
550 message refused by mailmarshal spamprofiler
550 our email server thinks this email is spam
550 5.7.1 Our system has detected that this message is likely unsolicited mail
550 probable spam
550 rejected due to spam content
550 rejected: spamassassin score 9
550 related to content with spam-like characteristics
550 spam check failed
550 spam detected
550 spam email not accepted
550 spam message
550 spam not accepted
550 spamming not allowed
550 we dont accept spam
550 your email breaches local uribl policy
550 your message has triggered a spam block
550 your message failed several antispam checks
554 5.7.1 The message was rejected as spam
550 5.7.1 Message rejected as spam by Content Filtering
550 High probability of spam
554 Message is considered spam
550 identified as SPAM
554 Spam message rejected`,
  policyviolation: `550 Rejected by header-based Anti-Spoofing policy
550 posted by a non-member to a members-only list
550 Open relay not allowed
550 5.7.1 Invalid credentials for relay
550 an illegal attachment on your message
550 because the recipient is not accepting mail with attachments
550 closed mailing list: policy rejection
554 5.7.9 email not accepted for policy reasons
550 messages with multiple addresses in From: header are not accepted
550 message bounced due to organizational settings
550 message given low priority
554 5.7.9 Message not accepted for policy reasons
550 message rejected due to local policy
550 protocol violation
552 5.7.0 This message was blocked because its content presents a potential security issue
550 5.7.1 Relaying denied
554 5.7.1 Relay access denied
550 relay not permitted
550 5.7.1 Unable to relay
550 as a relay
553 sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)
550 not local host y.test, not a gateway
550 we do not relay
550 mail server requires authentication when attempting to send to a non-local e-mail address: no relaying
550 this mail server does not relay
550 domain isn't allowed to be relayed
550 5.7.1 TRANSPORT.RULES.RejectMessage; the message was rejected by organization policy
554 5.7.1 Denied by policy
550 Administrative policy
550 5.7.1 Attachment type not allowed
550 rejected by policy`,
  authfailure: `550 5.7.26 Unauthenticated email from y.test is not accepted due to domain's DMARC policy
550 5.7.1 Email rejected per DMARC policy for y.test
550 SPF check failed
550 5.7.23 The message was rejected because of Sender Policy Framework violation
554 5.7.5 Permanent error evaluating DMARC policy
550 //www.openspf.org/why rejected
550 5.7.20 no passing DKIM signature found
550 domain owner dmarc policy
550 5.7.515 Access denied, sending domain y.test does not meet the required authentication level`,
  toobig: `552 message file too big
552 Taille limite du message atteinte
552 5.3.4 Message size exceeds fixed limit
550 exceeded maximum inbound message size
552 message too big
550 message size exceeds maximum value
552 max message size exceeded
550 line limit exceeded: message too large
552 5.2.3 Message exceeds administrative limit
554 5.3.4 message size too large
550 5.2.3 RESOLVER.RST.RecipSizeLimit; message too large for this recipient
552 Error: message too large
550 Mail size limit exceeded`,
  toomanyconn: `421 Max message per connection reached
421 message threshold exceeded
421 too many connections
421 all available ips are at maximum connection limit
421 concurrency limit reached
452 4.3.2 Connection rate limit exceeded
421 exceeds per-domain connection limit for
421 too many sessions
421 too many concurrent connections from your host
552 too many recipients
421 domain has exceeded the max emails per hour`,
  ratelimited: `421 4.7.1 deferred due to excessive volume
550 5.2.122 The recipient has exceeded their limit for messages
450 4.2.1 The user you are trying to contact is receiving mail too quickly
450 please try again slower
421 4.7.28 unusual rate of unsolicited mail
450 4.2.1 receiving mail at a rate that prevents`,
  expired: `0 server did not respond
0 Delivery failed 20 attempts
450 4.4.1 connect to mx.y.test: Connection refused
0 connection timed out
0 could not find a gateway for
0 delivery time expired
0 failed to deliver to domain y.test after 20 tries
0 giving up on 192.0.2.1
0 have been failing for a long time
0 host not reachable
0 it has not been collected after
0 message expired
0 not reachable for too long
0 retry time not reached for any host after a long failure period
0 retry timeout exceeded
0 was not reachable within the allowed queue period
0 your message could not be delivered for more than 4 days
0 Unable to deliver message after multiple retries, giving up
0 Operation timed out
554 5.4.7 Delivery expired (message too old)
554 4.4.7 Message expired: unable to deliver in 840 minutes
550 4.4.7 QUEUE.Expired; message expired
0 Delivery has been delayed`,
  networkerror: `0 No valid route to remote MX
0 Temporary failure in MX lookup
554 5.4.6 Message exceeded 50 hops
0 DNS lookup failed.
0 address family mismatch on destination MXs
0 bad dns lookup error code
0 could not connect and send the mail to
554 5.4.6 hop count exceeded - possible mail loop
0 host is unreachable
0 host name lookup failure
0 host not found, try again
0 mail forwarding loop for x@y.test
0 malformed name server reply
0 maximum forwarding loop count exceeded
0 message looping
0 message probably in a routing loop
0 no route to host
554 5.4.6 too many hops
0 unable to resolve route y.test
0 lost connection with mx.y.test while sending RCPT TO
0 connection refused
0 Network is unreachable`,
  systemerror: `0 delivery to pipe forbidden
0 this domain's DNS violates RFC 1035
554 Transaction failed
0 LMTP error after RCPT TO
0 aliasing/forwarding loop broken
0 can't create user output file
451 could not load drd for domain
0 internal error reading data
550 internal server error: error number 5
0 interrupted system call
0 it encountered an error while being processed
0 it would create a mail loop
451 local configuration error
451 4.3.0 local error in processing
0 loop was found in the mail exchanger
0 mail for y.test loops back to myself
451 mail system configuration error
0 queue file write error
0 recipient deferred because there is no mdb
0 remote server is misconfigured
0 server configuration error
554 service currently unavailable
0 system config error
0 temporary local problem
0 Insufficient system storage
452 not sufficient disk space
552 not enough storage space
554 5.3.0 Internal system error
550 5.3.5 system config error
451 4.3.0 Temporary system problem, try again later
503 5.5.1 bad sequence of commands
500 5.5.1 command unrecognized
501 Syntax error`,
  mailererror: `0 Command died with status 1
0 maildrop: exited
554 "|IFS=' ' && exec /usr/local/bin/procmail -f- || exit 75 #neko"... Service unavailable
0 procmail: program failure
0 /usr/bin/maildrop failed: bin/maildrop exit
554 5.3.0 mailer error
0 pipe to |/home/x/bin/y generated by x@y.test
0 x-unix; 127`,
  contenterror: `550 5.7.1 This message is not RFC 5322 compliant
553 Stray linefeeds in message
554 5.6.0 Mail message is malformed
550 improper use of 8-bit data in message header
554 the headers in this message contain improperly-formatted binary content
554 message header size exceeds limit
554 message mime structure invalid
550 5.6.0 Media error
552 5.6.0 Headers too large (32768 max)
554 not valid mime
554 5.6.1 Content not supported
554 duplicate header
550 5.6.11 SMTPSEND.BareLinefeedsAreIllegal; message contains bare linefeeds`,
  securityerror: `553 This route requires encryption (TLS)
451 4.7.1 TLS/SSLv3 Connection required
550 submitter failed to authenticate
550 5.7.5 Remote certificate failed MTA-STS validation
550 5.7.1 authentication required
535 authentication failed
530 5.7.0 Must issue a STARTTLS command first
550 sorry, you don't authenticate or the domain isn't in my list of allowed
550 authentication credentials invalid
550 you are not authorized to send mail, authentication is required
550 TLS required but not supported
550 5.7.57 SMTP; Client was not authenticated to send anonymous mail during MAIL FROM`,
  virusdetected: `552 5.7.1 virus Eicar detected by the server
550 It has a potentially executable attachment
550 5.7.0 virus detected
554 the message was rejected because it contains prohibited virus or spam content
554 this message contains a virus
554 message infected with malware
550 Virus found in message`,
  hasmoved: `551 user has moved
550 x@y.test has been replaced by z@y.test
551 5.1.6 Recipient has moved
550 5.1.6 Mailbox has moved`,
}

const HARD_REASONS = new Set(['userunknown', 'hostunknown', 'hasmoved'])

for (const [reason, lines] of Object.entries(phrases)) {
  test(`late reports with the reason ${reason} are classified`, () => {
    for (const line of lines.split('\n')) {
      const [, code, enhancedCode = null, text = ''] =
        /^(\d+) ?(?:#?([245]\.\d+\.\d+) ?)?(.*)$/.exec(line) ?? []
      const reply = { code: Number(code), enhancedCode, text }
      const command = reason === 'userunknown' ? 'rcpt' : undefined
      const { verdict } = classifyWithBasis({
        stage: 'late',
        reply,
        ...(command ? { command } : {}),
      })
      assert.deepEqual([verdict.reason, verdict.isHard], [reason, HARD_REASONS.has(reason)], line)
    }
  })
}

test('"unknown user" means filtered with a policy code or after the data', () => {
  const late = (enhancedCode: string | null, command?: 'rcpt' | 'message') => {
    const reply = { code: 550, enhancedCode, text: 'User unknown' }
    const { verdict } = classifyWithBasis({ stage: 'late', reply, ...(command ? { command } : {}) })
    return [verdict.reason, verdict.isHard, verdict.isStrike]
  }
  assert.deepEqual(late(null), ['userunknown', true, false])
  assert.deepEqual(late('5.0.0'), ['userunknown', true, false])
  assert.deepEqual(late('5.2.1'), ['filtered', false, true])
  assert.deepEqual(late('5.1.1'), ['userunknown', true, false])
  assert.deepEqual(late(null, 'rcpt'), ['userunknown', true, false])
  assert.deepEqual(late('5.7.1'), ['filtered', false, false])
  assert.deepEqual(late(null, 'message'), ['filtered', false, true])
  assert.deepEqual(late('5.0.0', 'message'), ['filtered', false, true])
  assert.deepEqual(late('5.1.1', 'message'), ['userunknown', true, false])
})

test('a reply to EHLO or MAIL FROM does not blame the recipient', () => {
  for (const [command, text, reason] of [
    ['ehlo', 'Rejected', 'blocked'],
    ['greeting', 'no', 'blocked'],
    ['mail', 'news.sender.test does not exist', 'rejected'],
    ['mail', 'User unknown', 'rejected'],
  ] as const) {
    const reply = { code: 550, enhancedCode: null, text }
    const { verdict } = classifyWithBasis({ stage: 'late', reply, command })
    assert.deepEqual([verdict.reason, verdict.isHard], [reason, false], text)
  }
})

test('the basis names the part of the reply that decided', () => {
  const basisOf = (code: number, enhancedCode: string | null, text: string) =>
    classifyWithBasis({ stage: 'late', reply: { code, enhancedCode, text } }).basis
  assert.equal(basisOf(550, '5.1.1', 'Mailbox full'), 'text')
  assert.equal(basisOf(550, '5.1.1', 'xyzzy'), 'enhanced')
  assert.equal(basisOf(552, null, 'xyzzy'), 'code')
  assert.equal(basisOf(550, null, 'xyzzy'), 'none')
  assert.equal(basisOf(250, null, 'OK'), 'code')
})
