<?php
// A verifier in PHP, written from README.md alone.
// node conformance/run.mjs --stdio -- php conformance/verifiers/verify.php

declare(strict_types=1);

final class Rejected extends Exception
{
    public function __construct(public readonly string $kind)
    {
        parent::__construct($kind);
    }
}

function verify(string $body, array $headers, array $secrets, int $now, float $tolerance, array $scheme): array
{
    if (!($tolerance > 0) || !str_contains($scheme['content'], '{body}')) {
        throw new Rejected('config');
    }
    $keys = array_map(fn ($secret) => keyOf($secret, $scheme['secretEncoding']), $secrets);
    $signatureHeader = only($headers, $scheme['signatureHeader']);
    $timestamp = only($headers, $scheme['timestampHeader']);
    $sentAt = secondsOf($timestamp, $scheme['timestamp']);
    $signatures = signaturesOf($signatureHeader, $scheme);
    [$before, $after] = explode('{body}', str_replace('{timestamp}', $timestamp, $scheme['content']));
    $isSigned = false;
    foreach ($keys as $key) {
        $mac = hash_hmac($scheme['algorithm'], $before . $body . $after, $key, true);
        foreach ($signatures as $signature) {
            $isSigned = hash_equals($mac, $signature) || $isSigned;
        }
    }
    if (!$isSigned || abs($now - $sentAt) > $tolerance) {
        throw new Rejected('verification');
    }
    return eventOf($body);
}

function keyOf(string $secret, string $encoding): string
{
    $slips = ['', 'null', 'undefined'];
    $key = $encoding === 'utf8' ? $secret : decode($secret, $encoding);
    if (trim($secret) !== $secret || in_array($secret, $slips, true) || $key === null) {
        throw new Rejected('config');
    }
    return $key;
}

function only(array $headers, string $name): string
{
    $values = array_values(array_filter($headers, fn ($pair) => strtolower($pair[0]) === $name));
    if (count($values) !== 1 || strlen($values[0][1]) > 4096) {
        throw new Rejected('verification');
    }
    return $values[0][1];
}

function secondsOf(string $text, string $unit): float
{
    $iso = '/\A\d{4}-\d{2}-\d{2}T[0-9:]{8}(\.\d+)?(Z|[+-]\d{2}:\d{2})\z/';
    if ($unit === 'iso8601' && preg_match($iso, $text)) {
        return (float) (new DateTimeImmutable($text))->format('U.u');
    }
    if ($unit === 'iso8601' || !preg_match('/\A[1-9][0-9]{0,13}\z/', $text)) {
        throw new Rejected('verification');
    }
    return (float) $text >= 1e11 ? (float) $text / 1000 : (float) $text;
}

function signaturesOf(string $header, array $scheme): array
{
    $separator = $scheme['separator'] ?? null;
    $length = strlen(hash($scheme['algorithm'], '', true));
    return array_map(function ($item) use ($scheme, $length) {
        $starts = str_starts_with($item, $scheme['prefix']);
        $bytes = $starts ? decode(substr($item, strlen($scheme['prefix'])), $scheme['encoding']) : null;
        if ($bytes === null || strlen($bytes) !== $length) {
            throw new Rejected('verification');
        }
        return $bytes;
    }, $separator === null ? [$header] : explode($separator, $header));
}

/** The bytes, or null unless the text is their one spelling. */
function decode(string $text, string $encoding): ?string
{
    if ($encoding === 'hex') {
        return preg_match('/\A([0-9a-fA-F]{2})+\z/', $text) ? hex2bin($text) : null;
    }
    $isUrl = $encoding === 'base64url';
    $bytes = base64_decode($isUrl ? strtr($text, '-_', '+/') : $text, true);
    if ($bytes === false) {
        return null;
    }
    $again = base64_encode($bytes);
    return ($isUrl ? rtrim(strtr($again, '+/', '-_'), '=') : $again) === $text ? $bytes : null;
}

function eventOf(string $body): array
{
    $json = str_starts_with($body, "\xEF\xBB\xBF") ? substr($body, 3) : $body;
    $event = json_decode($json, true);
    $type = is_array($event) ? ($event['type'] ?? null) : null;
    $data = is_array($event) ? ($event['data'] ?? null) : null;
    $isPaid = is_array($data) && is_string($data['order_id'] ?? null) && $data['order_id'] !== ''
        && isMoney($data['amount'] ?? null);
    if (is_string($type) && ($type !== 'order.paid' || $isPaid)) {
        return $event;
    }
    throw new Rejected('payload');
}

function isMoney(mixed $amount): bool
{
    return is_string($amount) ? preg_match('/\A[0-9]+(\.[0-9]+)?\z/', $amount) === 1
        : is_int($amount) || (is_float($amount) && is_finite($amount));
}

while (($line = fgets(STDIN)) !== false) {
    $question = json_decode($line, true);
    $outcome = ['id' => $question['id']];
    try {
        $outcome['event'] = verify(
            base64_decode($question['body']),
            $question['headers'],
            $question['secrets'],
            $question['now'],
            (float) $question['toleranceSeconds'],
            $question['scheme'],
        );
        $outcome['result'] = 'accepted';
    } catch (Rejected $error) {
        $outcome += ['result' => 'rejected', 'kind' => $error->kind];
    } catch (Throwable $error) {
        $outcome += ['result' => 'crashed', 'note' => $error->getMessage()];
    }
    fwrite(STDOUT, json_encode($outcome, JSON_INVALID_UTF8_SUBSTITUTE | JSON_THROW_ON_ERROR) . "\n");
}
