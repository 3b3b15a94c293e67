-- The image runs this once with psql, as its superuser, while the volume is empty. Nobody else acts as the superuser.
-- Temporal has a role, which owns its two databases. The ledger has two roles: `ledger_owner`, by which `fiscalflow setup`
-- makes the tables, and `ledger`, that of the workers, which gets from it what it needs of them, and can change no event.
\set temporal_password `cat /run/secrets/temporal-password`
\set ledger_password `cat /run/secrets/ledger-password`
\set ledger_owner_password `cat /run/secrets/ledger-owner-password`
create role temporal login nosuperuser nocreatedb nocreaterole noreplication nobypassrls password :'temporal_password';
create role ledger_owner login nosuperuser nocreatedb nocreaterole noreplication nobypassrls password :'ledger_owner_password';
create role ledger login nosuperuser nocreatedb nocreaterole noreplication nobypassrls password :'ledger_password';
create database ledger owner ledger_owner;

-- Made here, and not by Temporal's tool, because its role makes no databases, and because everybody may connect to a new
-- database until it is revoked.
create database temporal owner temporal;
create database temporal_visibility owner temporal;
revoke all on database ledger, temporal, temporal_visibility, postgres, template1 from public;
grant connect on database ledger to ledger;
